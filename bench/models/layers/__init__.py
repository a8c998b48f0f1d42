"""Layers that several architectures share; each file has one subject."""
