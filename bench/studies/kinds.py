"""The kinds of data behind numbers, with their names in tables, figures and pages."""

from collections.abc import Iterable

from bench.datasets.provenance import share_text
from bench.results.record import DataDescription

ORDER = ("whole", "converted", "excerpt", "own", "simulated")
"""From most to least comparable with the published results."""

_SENTENCES = {
    "whole": "whole dataset",
    "converted": "the dataset, converted",
    "excerpt": "EXCERPT of the dataset",
    "own": "a user's OWN data, without published scores",
    "simulated": "SIMULATED data: the scores are not interpretable",
}

_SHORT = {
    "whole": "whole",
    "converted": "converted",
    "excerpt": "EXCERPT",
    "own": "a user's OWN",
    "simulated": "SIMULATED, scores not interpretable",
}

SUFFIXES = {
    "whole": "",
    "converted": ", converted",
    "excerpt": ", EXCERPT",
    "own": ", OWN DATA",
    "simulated": ", SIMULATED",
}
"""Behind the name of a dataset, where its share of the windows is not known."""

STAMPS = {
    "whole": "",
    "converted": "Converted data: not the publisher's own files",
    "excerpt": "EXCERPT of the data: scores are not comparable with published ones",
    "own": "A user's OWN data",
    "simulated": "SIMULATED data: scores are not interpretable",
}
"""Written into pictures, which lose their captions when shared."""


def stamp(dataset: str, kind: str, share: str = "") -> str:
    """Return what is written into a picture: a dataset's name and, unless it is whole, the kind of its data.

    ``share`` stands behind the kind.
    """
    words, colon, rest = STAMPS[kind].partition(":")
    return f"{dataset}. {words}{share}{colon}{rest}" if words else dataset


def data_stamp(dataset: str, data: DataDescription) -> str:
    """Return the same of described data, with its share of the windows."""
    return stamp(dataset, data.kind, _share(data))


def sentence(data: DataDescription) -> str:
    """Return the kind of data for a caption, with its share of the windows and its remark if it has them."""
    remark = f" ({data.remark})" if data.remark else ""
    return f"{_SENTENCES[data.kind]}{_share(data)}{remark}"


def short(data: DataDescription) -> str:
    """Return the kind of data for a caption that lists several datasets."""
    return f"{_SHORT[data.kind]}{_share(data)}"


def suffix(data: DataDescription) -> str:
    """Return what stands behind the name of a dataset: nothing if it is whole."""
    return f"{SUFFIXES[data.kind]}{_share(data)}"


def least_real(kinds: Iterable[str]) -> str:
    """Return the least comparable of several kinds; whole data if there is none."""
    return max(kinds, key=ORDER.index, default="whole")


def _share(data: DataDescription) -> str:
    """Return the share of a converted dataset; that of an excerpt says little, as excerpts are chosen."""
    return share_text(data.share) if data.kind == "converted" else ""
