"""The kinds of data behind numbers, with their names in tables, figures and pages."""

from collections.abc import Iterable

ORDER = ("whole", "excerpt", "own", "simulated")
"""From most to least comparable with the published results."""

SENTENCES = {
    "whole": "whole dataset",
    "excerpt": "EXCERPT of the dataset",
    "own": "a user's OWN data, of which nothing is published",
    "simulated": "SIMULATED data: the scores are not interpretable",
}
"""For captions."""

SHORT = {
    "whole": "whole",
    "excerpt": "EXCERPT",
    "own": "a user's OWN",
    "simulated": "SIMULATED, scores not interpretable",
}
"""For captions that list several datasets."""

SUFFIXES = {"whole": "", "excerpt": ", EXCERPT", "own": ", OWN DATA", "simulated": ", SIMULATED"}
"""Behind the name of a dataset."""

STAMPS = {
    "whole": "",
    "excerpt": "EXCERPT of the data: scores are not comparable with published ones",
    "own": "A user's OWN data",
    "simulated": "SIMULATED data: scores are not interpretable",
}
"""Written into pictures, which lose their captions when shared."""


def least_real(kinds: Iterable[str]) -> str:
    """Return the least comparable of several kinds; whole data if there is none."""
    return max(kinds, key=ORDER.index, default="whole")
