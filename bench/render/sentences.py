"""A caption as sentences, so that a page or a paper can show some of them elsewhere."""

import re

_END = re.compile(r"(?<=\.)\s+(?=[A-Z\d])")


def sentences(caption: str) -> list[str]:
    """Return the sentences of a caption, each with its full stop; none for an empty caption."""
    text = caption.strip()
    return _END.split(text) if text else []
