"""Statistics: arrays in; intervals, tests and ranks out. Knows no record and no name."""
