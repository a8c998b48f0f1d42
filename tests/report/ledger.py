"""The claims of the ledger by name, for the tests of those who judge them."""

from bench.paper.claims import Claim, text_claims


def claim(name: str) -> Claim:
    """Return a claim of the ledger."""
    return next(claim for claim in text_claims() if claim.id == name)
