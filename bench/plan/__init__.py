"""The grid: which cells there are, what their keys are made of, and which are done. Free of torch."""
