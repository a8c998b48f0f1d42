"""How operations, time and memory grow with the length of the window."""
