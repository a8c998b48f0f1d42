"""Faults and damaged inputs, a thousand of each kind of accident: ``python -m benchmarks.campaign``."""
