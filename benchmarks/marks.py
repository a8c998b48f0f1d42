"""Tables in benchmarks/README.md, between marks that say which benchmark writes them."""

from pathlib import Path

from bench.files import atomic_file

README = Path(__file__).parent / "README.md"


def write_between_marks(title: str, writer: str, lines: list[str]) -> None:
    """Replace what stands between the README's two marks of a title."""
    start, end = f"<!-- {title}: written by {writer} -->\n", f"<!-- end of {title} -->"
    before, _, rest = README.read_text(encoding="utf-8").partition(start)
    _, found, after = rest.partition(end)
    assert found, f"{README} has no marks for '{title}'"
    body = "\n".join(lines)
    with atomic_file(README) as temporary:
        temporary.write_text(f"{before}{start}\n{body}\n\n{end}{after}", encoding="utf-8")
