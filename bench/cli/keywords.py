"""A command called from Python: keywords become the words of its command line, and are checked as those are."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from bench.errors import UsageError, unknown_name


def call(command: click.Command, keywords: Mapping[str, Any]) -> None:
    """Run a command with its long options as keywords; cells that fail raise nothing, as records say so.

    Parameters
    ----------
    command
        The command.
    keywords
        Values by option, with ``_`` for ``-``: a list stands for a comma list, a mapping for repeated ``KEY=VALUE``,
        True and False for a flag, None for the option's default.

    Raises
    ------
    UsageError
        There is no such option, or its value cannot be used.
    """
    try:
        with command.make_context(command.name, list(words(command, keywords))) as context:
            command.invoke(context)
    except click.UsageError as error:
        raise UsageError(error.format_message()) from error
    except SystemExit:
        return


def words(command: click.Command, keywords: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of the command line that keywords stand for.

    Raises
    ------
    UsageError
        There is no such option.
    """
    options = {
        name.removeprefix("--").replace("-", "_"): option
        for option in command.params
        if isinstance(option, click.Option)
        for name in option.opts
    }
    for keyword, value in keywords.items():
        if keyword not in options:
            raise unknown_name(f"keyword of {command.name}", keyword, options)
        if value is not None:
            yield from _words(options[keyword], value)


def _words(option: click.Option, value: Any) -> Iterator[str]:
    name = option.opts[0]
    if option.is_flag:
        if value is True:
            yield name
        elif value is False:
            yield from option.secondary_opts[:1]
        else:
            raise UsageError(f"{name}: {value!r} is neither True nor False")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (name, f"{key}={_text(item)}")
    elif isinstance(value, Iterable) and not isinstance(value, str):
        yield from (name, ",".join(map(str, value)))
    else:
        yield from (name, str(value))


def _text(value: Any) -> str:
    """Return a value as ``--set`` reads it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(repr, value))}]" if isinstance(value, list | tuple) else str(value)
