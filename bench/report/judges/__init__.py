"""The judges of records that the claims ledger asks, by what a claim needs; a file for each."""

from bench.report.judges.make_judges import make_judges

__all__ = ["make_judges"]
