"""Prepared windows on disk: where they lie, how they are made, and whether they are still of use."""
