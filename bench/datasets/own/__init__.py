"""A user's own windows: imported, exported, and read like any dataset."""
