"""Results folders and packs from strangers: one value of one record replaced, or the bytes of one file damaged.

    python -m tests.results.fuzzing SEED COUNT FOLDER

writes one line of JSON: how many folders were shown whole, how many with a file left out or refused in one line, and
what else happened; then one line for each kind of file that is no text.
"""

import json
import random
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.analyses.arrays import read_arrays, write_arrays
from bench.errors import BenchError, RecordError
from bench.files import sha256_of
from bench.plan.cost import costs_from_records, place_of
from bench.report.contents import Contents, read_contents
from bench.report.page import page
from bench.report.reproducibility import to_markdown
from bench.results.pack import pack, verify_pack
from bench.results.predictions import read_predictions
from bench.run.status import cell_statuses
from bench.studies.compare_sets import compare_sets
from tests.datasets.fuzzing import mutated as damaged_bytes

WHOLE = Path(__file__).parents[1] / "golden" / "results_3b72bbe"
MARKUP = "<img src=x onerror=alert(1)>"
ODD = (
    *(
        None,
        True,
        -1,
        0,
        1,
        2,
        3.5,
        -0.5,
        1e308,
        10**18,
        10**30,
        "",
        "a",
        "41",
        "../../../../tmp/climbed",
        MARKUP,
    ),
    *(
        "\n",
        "\x1b[31m",
        "a\u2028b",
        [],
        {},
        [1],
        [[1]],
        [None],
        {"a": 1},
        {MARKUP: MARKUP},
        ["a", "a"],
        "x" * 5000,
    ),
)
RAW = (b"[" * 5000, b"9" * 5000, b"1e999", b"NaN", b'"\\ud800"', b"\x00", b"\xff", b"", b"{}", b"[]", b"null")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside another."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return a record with one value replaced, removed or doubled, or with raw text in its place."""
    value = json.loads(content)
    *way, last = chance.choice(list(places(value)))
    holder = value
    for key in way:
        holder = holder[key]
    kind = chance.randrange(10)
    if kind == 0:
        del holder[last]
    elif kind == 1 and isinstance(holder, list):
        holder.append(holder[last])
    elif kind == 2:
        holder[last] = "@@"
        return json.dumps(value).encode().replace(b'"@@"', chance.choice(RAW))
    else:
        holder[last] = chance.choice(ODD)
    return json.dumps(value).encode()


def show(out: Path) -> Contents:
    """Build everything of a report but its figures, and what other commands say of the records."""
    contents = read_contents(out)
    drawn = tuple(replace(section, figures=()) for section in contents.sections)
    contents = replace(contents, sections=drawn)
    to_markdown(contents)
    html = page(out, contents, out / "figures")
    assert MARKUP not in html, "markup reached the page"
    cell_statuses(out)
    costs_from_records(contents.records, place_of(contents.records[0]))
    with suppress(RecordError):
        compare_sets(out, WHOLE)
    names = [table.name for section in drawn for table in (*section.tables, *section.data_tables)]
    assert not [name for name in names if "/" in name], f"a table climbs out: {names}"
    return contents


def run(seed: int, count: int, folder: Path) -> dict[str, Any]:
    """Show so many mutated folders and return the counts, with what went wrong."""
    out = folder / "results"
    shutil.copytree(WHOLE, out)
    files = sorted(path for path in out.rglob("*.json") if path.name != "planned.json")
    counts = {"whole": 0, "left out": 0, "refused": 0}
    wrong: list[str] = []
    for number in range(count):
        chance = random.Random(f"{seed} {number}")
        path = chance.choice(files)
        content = path.read_bytes()
        path.write_bytes(mutated(content, chance))
        try:
            damaged = show(out).damaged
            counts["left out" if damaged else "whole"] += 1
            wrong += [f"{number}: not one line: {error}" for error in damaged if not str(error).isprintable()]
        except BenchError as error:
            counts["refused"] += 1
            wrong.append(f"{number} {path.relative_to(out)}: one record costs the report: {error}")
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            ours = [f"{Path(f.filename).name}:{f.lineno}" for f in frames if "/bench/" in f.filename]
            wrong.append(f"{number} {path.relative_to(out)}: {type(error).__name__}: {error} at {ours[-3:]}")
        finally:
            path.write_bytes(content)
    return {**counts, "wrong": wrong}


def _write_pack(folder: Path) -> Path:
    return pack(WHOLE, folder / "no report", folder / "pack.zip").path


def _write_predictions(folder: Path) -> Path:
    return Path(shutil.copy(min(WHOLE.rglob("predictions.npz")), folder))


def _write_arrays(folder: Path) -> Path:
    write_arrays(folder, "stem", {"map": np.arange(12.0).reshape(6, 2), "subject": np.array(list("aabbcc"))})
    return folder / "stem.npz"


# How a small file of each kind that is no text is written, and read.
KINDS: dict[str, tuple[Callable[[Path], Path], Callable[[Path], object]]] = {
    "pack": (_write_pack, verify_pack),
    "predictions": (_write_predictions, read_predictions),
    "arrays": (_write_arrays, lambda path: read_arrays(path.parent, path.stem, sha256_of(path))),
}


def run_kind(kind: str, seed: int, count: int, folder: Path) -> dict[str, Any]:
    """Read so many damaged files of one kind and return the counts, with what went wrong."""
    write, read = KINDS[kind]
    path = write(folder)
    sound, counts = path.read_bytes(), {"read": 0, "refused": 0}
    wrong: list[str] = []
    for number in range(count):
        path.write_bytes(damaged_bytes(sound, random.Random(f"{kind} {seed} {number}")))
        try:
            read(path)
            counts["read"] += 1
        except BenchError as error:
            counts["refused"] += 1
            wrong += [] if str(error).isprintable() else [f"{kind} {number}: not one line: {str(error)!r}"]
        except Exception as error:
            wrong.append(f"{kind} {number}: {type(error).__name__}: {error}")
    return {**counts, "wrong": wrong}


if __name__ == "__main__":
    warnings.simplefilter("error")
    seed_asked, count_asked, folder_asked = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    print(json.dumps(run(seed_asked, count_asked, folder_asked)))
    for kind_asked in KINDS:
        print(json.dumps(run_kind(kind_asked, seed_asked, count_asked, folder_asked)))
