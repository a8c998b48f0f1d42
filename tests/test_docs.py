"""Documents that repeat what the package says of itself say the same."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from bench import datasets
from bench.cli import main
from bench.paper.claims import text_claims
from tests.cli.commands import leaves, parse

ROOT = Path(__file__).parents[1]
DOCUMENTS = ("README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))


def examples(text: str) -> Iterator[str]:
    """Yield the indented lines of a text that call ``bench``, also by torchrun, without what is said of them."""
    for line in text.replace("\\\n", " ").splitlines():
        match = re.match(r"\s+(?:torchrun .* -m |\.venv/bin/)?(bench [a-z].*)", line)
        if match:
            # Two blanks or a hash end a command; blanks within a continued line do not.
            yield re.split(r"\s{2,}(?![\s-])|\s#", match[1])[0]


def check(line: str) -> None:
    try:
        parse(shlex.split(line)[1:])
    except click.UsageError as error:
        pytest.fail(f"'{line}': {error.format_message()}")


@pytest.mark.parametrize("name", datasets.names())
def test_every_dataset_has_its_card_in_the_docs(name: str) -> None:
    shown = CliRunner().invoke(main, ["list", "datasets"]).output
    card = next(one for one in shown.split("\n\n") if one.startswith(f"{name}:"))
    assert card in (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")


def test_the_readme_is_short_and_shows_what_exists() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    for part in text.split("](")[1:]:
        target = part.partition(")")[0]
        assert (ROOT / target).exists(), f"README links to {target}"


def test_the_readme_counts_the_claims_of_the_ledger() -> None:
    (number,) = re.findall(r"(\d+)\s+claims of the paper", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert int(number) == len(text_claims())


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "AGENTS.md"])
def test_files_named_in_documents_exist(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for name in re.findall(r"`((?:bench|docs|tests|results|benchmarks)/[\w./-]+)`|\b(docs/\w+\.md)", text):
        path = next(filter(None, name))
        assert (ROOT / path).exists(), f"{document} names {path}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_of_the_documents_can_be_typed(document: str) -> None:
    for line in examples((ROOT / document).read_text(encoding="utf-8")):
        check(line)


def test_the_readme_has_examples_that_are_checked() -> None:
    assert len(list(examples((ROOT / "README.md").read_text(encoding="utf-8")))) >= 10


@pytest.mark.parametrize(
    ("path", "command"), list(leaves()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_has_an_example_that_can_be_typed(path: str, command: click.Command) -> None:
    lines = list(examples(command.get_help(click.Context(command, info_name=path))))
    assert any(line.startswith(path) for line in lines)
    for line in lines:
        check(line)


def test_examples_of_the_first_help_can_be_typed() -> None:
    lines = list(examples(main.get_help(click.Context(main))))
    assert len(lines) >= 4
    for line in lines:
        check(line)


@pytest.mark.parametrize(
    "line", ["bench run --dry", "bench run --jobs 0", "bench pack --report R", "bench fly"]
)
def test_a_line_that_cannot_be_typed_is_found(line: str) -> None:
    with pytest.raises(click.UsageError):
        parse(shlex.split(line)[1:])
