"""The fonts of figures: matplotlib's DejaVu Sans, reduced to the characters of labels.

A PDF embeds the glyphs that it shows. To find them fontTools reads the whole font, and for one of 6,000 glyphs with
rules for a dozen scripts that takes longer than drawing a figure. Layout rules, kerning included, are left out:
they are seven eighths of the rest.
"""

from functools import cache
from pathlib import Path

from bench.files import atomic_file, cache_root

REDUCED, WHOLE = "DejaVu Sans Labels", "DejaVu Sans"
"""Names of the reduced fonts, and of their originals, which supply every other character."""

_FILES = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")
_RULES = ("GDEF", "GPOS", "GSUB", "MATH")
_FOLDER = "plain"
"""Must change with the contents of the reduced fonts, since the cache may hold those of an earlier version."""

_FAMILY_IDS = (1, 4, 16)
_CHARACTERS = (
    *range(0x20, 0x7F),
    *range(0xA0, 0x180),
    *range(0x391, 0x3CA),
    *range(0x2010, 0x2027),
    *(0x2212, 0x2248, 0x2264, 0x2265),
)


@cache
def use_reduced_fonts() -> None:
    """Register the reduced fonts with matplotlib; they are made once and stay in the cache folder."""
    import matplotlib as mpl
    from matplotlib import font_manager

    for name in _FILES:
        path = cache_root() / "fonts" / _FOLDER / f"matplotlib-{mpl.__version__}" / name
        if not path.is_file():
            _reduce(Path(mpl.get_data_path()) / "fonts" / "ttf" / name, path)
        font_manager.fontManager.addfont(path)


def _reduce(source: Path, target: Path) -> None:
    from fontTools import subset

    options = subset.Options(layout_features=[], glyph_names=True, notdef_outline=True)
    options.drop_tables += [*_RULES, "FFTM"]  # the last is a time stamp of FontForge's
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=_CHARACTERS)
    with subset.load_font(source, options) as font:
        subsetter.subset(font)
        names = font["name"]
        for name in list(names.names):
            if name.nameID in _FAMILY_IDS:
                names.setName(REDUCED, name.nameID, name.platformID, name.platEncID, name.langID)
        with atomic_file(target) as temporary:
            subset.save_font(font, temporary, options)
