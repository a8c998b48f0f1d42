"""The command line: parse, call, print."""

from bench.cli.app import main

__all__ = ["main"]
