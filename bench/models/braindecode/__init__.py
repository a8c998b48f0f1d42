"""Networks of the package braindecode: what its source says of them, and the adapter that they run in."""
