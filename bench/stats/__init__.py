"""Arrays in; intervals, tests and ranks out: no records and no names."""
