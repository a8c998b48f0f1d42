"""Simulated studies whose truth is known: how often intervals hold it, and how often verdicts are wrong."""
