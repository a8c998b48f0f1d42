"""The selective scan of state space models: one contract, several backends."""

from bench.scan.contract import ScanInputs
from bench.scan.dispatch import (
    BACKENDS,
    CHOICE,
    available_backends,
    choose_backend,
    obstacles,
    selective_scan,
)

__all__ = [
    "BACKENDS",
    "CHOICE",
    "ScanInputs",
    "available_backends",
    "choose_backend",
    "obstacles",
    "selective_scan",
]
