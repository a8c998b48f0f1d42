"""Executing cells: each in a process of its own, each ending in a record whatever happens."""
