"""Fetching a dataset from its publisher; only ever when asked to."""
