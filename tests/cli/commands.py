"""The tree of commands as the tests walk it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import click

from bench.cli import main


def leaves(group: click.Group = main, path: str = "bench") -> Iterator[tuple[str, click.Command]]:
    """Yield every command that a user can type, with all the words that name it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, f"{path} {name}"
        if isinstance(command, click.Group):
            yield from leaves(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def parse(words: list[str]) -> dict[str, Any]:
    """Parse a command line without running it, as if all its files were there; return what the command would get.

    Raises
    ------
    click.UsageError
        It cannot be typed so.
    """
    command: click.Command = main
    while isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0]) if words else None
        if found is None:
            raise click.UsageError(f"no command {words[:1]}")
        command, words = found, words[1:]
    with mock.patch.object(click.Path, "convert", lambda _self, value, _param, _context: Path(value)):
        return command.make_context(command.name, list(words)).params


def flags() -> str:
    """Return a line for each command: its arguments and its options."""
    lines = []
    for path, command in leaves():
        arguments = [
            f"<{one.human_readable_name}>" for one in command.params if isinstance(one, click.Argument)
        ]
        options = [one for one in command.params if isinstance(one, click.Option)]
        names = sorted(name for one in options for name in (*one.opts, *one.secondary_opts))
        lines.append(" ".join([path, *arguments, *names]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("flags.txt").write_text(flags(), encoding="utf-8")
