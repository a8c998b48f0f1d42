"""The claims of the ledger by name, for the tests of those who judge them."""

from bench.paper.claims import Claim, cell_claims, text_claims


def claim(name: str) -> Claim:
    """Return a claim of the text or of a table's cell."""
    return next(one for one in (*text_claims(), *cell_claims()) if one.id == name)
