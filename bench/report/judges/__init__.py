"""The judges that rule on the paper's claims from records; one file for each."""

from bench.report.judges.make_judges import make_judges

__all__ = ["make_judges"]
