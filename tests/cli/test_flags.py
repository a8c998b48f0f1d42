"""The command line is a promise: no option comes, goes or is renamed unseen, and each says what it does."""

from pathlib import Path

import click
import pytest

from tests.cli.commands import flags, leaves


def test_commands_and_options_are_those_written_down() -> None:
    """After a change that is meant: ``python -m tests.cli.commands``, and a line in the changelog."""
    assert flags() == Path(__file__).with_name("flags.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "command"), list(leaves()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_option_says_what_it_does(path: str, command: click.Command) -> None:
    silent = [one.opts for one in command.params if isinstance(one, click.Option) and not one.help]
    assert not silent, path
