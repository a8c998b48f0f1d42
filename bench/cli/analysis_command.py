"""Makes the command of an analysis from its options: parse, run, print."""

from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

from bench.cli.options import (
    FiniteRange,
    data_option,
    default_data,
    default_results,
    out_option,
    report_folder,
)

if TYPE_CHECKING:
    from annotated_types import BaseMetadata
    from pydantic.fields import FieldInfo

    from bench.analyses.contract import Analysis, Shown


def analysis_command(analysis: "Analysis", name: str | None = None) -> click.Command:
    """Return the command; its own name unless another is given."""

    def callback(data: Path | None, out: Path | None, **values: Any) -> None:
        from bench.analyses.runner import analyse, shown
        from bench.results.store import require_writable

        require_writable(report_folder(out))
        results = out or default_results()
        analyse(
            analysis,
            analysis.options(**values),
            out=results,
            data=data,
            default_data=default_data(),
            say=say,
        )
        print_and_write(shown(analysis, results, say), report_folder(out))

    command = click.Command(
        name or analysis.name,
        callback=callback,
        params=[option_of(field, info) for field, info in analysis.options.model_fields.items()],
        help="\n".join([analysis.summary, "", "\b", *analysis.examples]),
        short_help=analysis.summary,
    )
    return data_option(out_option(command))


def option_of(name: str, info: "FieldInfo") -> click.Option:
    """Return the command-line option of one field: its type, bounds, default and help."""
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    settings: dict[str, Any] = {
        "default": info.default,
        "show_default": info.default is not None and info.annotation is not bool,
        "help": info.description,
        "metavar": extra.get("metavar"),
    }
    flag = f"--{name.replace('_', '-')}"
    if info.annotation is bool:
        return click.Option([flag], is_flag=True, **settings)
    return click.Option([flag], type=_type_of(info.annotation, info.metadata), **settings)


def _type_of(annotation: Any, bounds: "list[BaseMetadata]") -> click.ParamType:
    if get_origin(annotation) is Literal:
        return click.Choice(get_args(annotation))
    (kind,) = [part for part in get_args(annotation) or (annotation,) if part is not NoneType]
    limits = {name: getattr(bound, name) for bound in bounds for name in ("ge", "gt") if hasattr(bound, name)}
    low = limits.get("ge", limits.get("gt"))
    if kind is int:
        return click.IntRange(min=low)
    if kind is float:
        return FiniteRange(min=low, min_open="gt" in limits)
    return click.STRING


def print_and_write(shown: "Shown", folder: Path) -> None:
    """Print the text or the tables, and write the tables and the figures below a folder."""
    from bench.render.export import write_report
    from bench.render.formats import to_console

    for text in [shown.text] if shown.text else map(to_console, shown.tables):
        click.echo(text)
    click.echo("files:")
    for path in write_report(shown.tables, shown.figures, folder):
        click.echo(f"  {path}")


def say(line: str) -> None:
    """Print a line of progress."""
    click.echo(line, err=True)
