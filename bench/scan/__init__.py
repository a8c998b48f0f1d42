"""The selective scan of state space models: one contract, several backends."""

from bench.scan.contract import ScanInputs
from bench.scan.dispatch import (
    BACKENDS,
    available_backends,
    choose_backend,
    obstacles,
    preferred,
    selective_scan,
)

__all__ = [
    "BACKENDS",
    "ScanInputs",
    "available_backends",
    "choose_backend",
    "obstacles",
    "preferred",
    "selective_scan",
]
