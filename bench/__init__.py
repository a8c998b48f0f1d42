"""A reproducible benchmark of MedMamba and eleven transformers on medical time series."""

__version__ = "0.1.0"
