"""Simulated cohorts in the raw layouts of the publishers, read by the same readers as the real files."""
