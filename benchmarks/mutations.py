"""Mistakes made on purpose in the core, one at a time in a temporary copy, and the tests that must see them.

``python -m benchmarks.mutations`` prints a table and fails if a mistake survives, or if a test that saw one fails
without it too; words as arguments choose the mistakes whose file has one of them in its path.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
COPIED = (
    "bench",
    "tests",
    "docs",
    "benchmarks",
    "pyproject.toml",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
LONGEST_S = 600.0
DEADLINE_S = "60"
"""How long a test waits for what a mistake prevents."""
TESTS_FAILED = 1
"""What pytest ends with when tests were run and one failed; anything else is no proof."""


class Mutation(NamedTuple):
    """A text of a file, what takes its place, and tests that fail then; paths are below ``bench`` and ``tests``."""

    file: str
    old: str
    new: str
    tests: str


MUTATIONS = (
    # A tie must keep the earlier epoch.
    Mutation(
        "train/fit.py", "if gain > 0 and", "if gain >= 0 and", "train/test_fit.py -k which_epoch_is_kept"
    ),
    Mutation(
        "train/fit.py",
        'self.order.set_state(state["order"])',
        "pass",
        "train/test_fit.py -k goes_on_exactly",
    ),
    Mutation("plan/cell.py", '"seed": settings.seed,\n        }', "}", "plan/test_cell.py"),
    Mutation(
        "plan/cell.py", "sorted(self.data.split.train)", "list(self.data.split.train)", "plan/test_cell.py"
    ),
    Mutation(
        "results/store.py",
        "record.key == key and is_complete(folder, record)",
        "record.key == key",
        "results/test_store.py",
    ),
    # A write that is not atomic leaves its file behind, or replaces a good one.
    Mutation(
        "files.py",
        "temporary.replace(path)\n    finally",
        "temporary.replace(path)\n    except ZeroDivisionError",
        "results/test_store.py",
    ),
    Mutation(
        "run/pool.py",
        '_fail(cell, queue, "timeout",',
        '_fail(cell, queue, "failed",',
        "run/test_outcomes.py -k takes_too_long",
    ),
    Mutation("run/pool.py", "attempt <= RETRIES", "attempt < RETRIES", "run/test_outcomes.py -k always_dies"),
    Mutation(
        "run/worker.py",
        "isinstance(error, DivergedError)",
        "isinstance(error, ZeroDivisionError)",
        "run/test_outcomes.py -k divergence",
    ),
    Mutation(
        "run/worker.py",
        "if job.smaller() is not None",
        "if job.smaller() is None",
        "run/test_outcomes.py -k out_of_memory",
    ),
    Mutation(
        "run/checkpoint.py",
        "hexdigest().encode() != digest",
        'hexdigest().encode() == b""',
        "run/test_faults.py -k checkpoint_is_kept_aside",
    ),
    Mutation(
        "run/checkpoint.py",
        'state["key"] != key',
        'state["key"] is None',
        "run/test_faults.py -k another_cell",
    ),
    Mutation(
        "processes.py",
        "threading.Thread(target=_die_with_parent, daemon=True).start()",
        "pass",
        "test_processes.py -k die_with_their_parent",
    ),
    Mutation(
        "datasets/splits.py",
        "_shuffled_classes(subjects, seed).values() for one",
        "_shuffled_classes(subjects, seed + k).values() for one",
        "datasets/test_splits.py -k folds",
    ),
    Mutation("train/scores.py", "labels=present, average", "average", "train/test_scores.py"),
    Mutation(
        "studies/aggregate.py",
        "_age(record) > _age(newest[name])",
        "_age(record) < _age(newest[name])",
        "studies/test_aggregate.py",
    ),
    Mutation(
        "stats/two_way.py",
        "square - interaction, 0.0",
        "square, 0.0",
        "stats/test_two_way.py -k two_way_analysis",
    ),
    Mutation("cli/app.py", "ctx.exit(error.exit_code)", "ctx.exit(1)", "cli/test_startup.py -k exit_code"),
    Mutation("cli/app.py", "ctx.exit(130)", "ctx.exit(1)", "run/test_parent.py -k SIGTERM"),
    Mutation(
        "results/twins.py",
        "found is not None and found.is_done",
        "found is not None",
        "results/test_twins.py",
    ),
    Mutation("measure/rounds.py", "/ max(len(going), 1)", "/ 1", "measure/test_rounds.py"),
    Mutation("report/write.py", "old.unlink(missing_ok=True)", "pass", "report/test_report_files.py"),
    Mutation("render/latex.py", '"&": r"\\&"', '"&": "&"', "render/test_latex.py -k special"),
    Mutation(
        "models/medmamba.py", '(".A_logs", ".D")', '(".A_logs",)', "models/test_medmamba.py -k weight_decay"
    ),
    Mutation(
        "models/medmamba.py",
        "drop_path * layer / max(n_layers - 1, 1)",
        "drop_path",
        "models/test_medmamba.py -k rises_by_layer",
    ),
    Mutation(
        "paper/claim_checks.py",
        "ours.mean <= rival.mean",
        "ours.mean < rival.mean",
        "paper/test_claims.py -k tie",
    ),
)


def chosen(words: Sequence[str]) -> list[Mutation]:
    """Return the mutations of the files that have one of the words in their path; all if there is no word."""
    return [mutation for mutation in MUTATIONS if not words or any(word in mutation.file for word in words)]


def copied(folder: Path) -> Path:
    """Copy what the tests need; return the copy."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, folder / name)
    return folder


def failed_tests(tests: Sequence[str], root: Path) -> tuple[int, list[str]]:
    """Run tests of a copy until one fails; return pytest's exit code and what failed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", "--no-header", "-m", "not slow", *tests],
        cwd=root,
        env={
            **os.environ,
            "PYTHONPATH": str(root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "BENCH_TEST_DEADLINE_S": DEADLINE_S,
        },
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return done.returncode, [line.partition(" ")[2].partition(" - ")[0] for line in lines]


def outcomes(mutations: Sequence[Mutation], root: Path) -> Iterator[tuple[Mutation, str]]:
    """Make each mistake in a copy and take it back; yield the test that saw it, or an empty text.

    Raises
    ------
    ValueError
        The text of a mutation does not occur exactly once in its file.
    """
    for mutation in mutations:
        path = root / "bench" / mutation.file
        before = path.read_text(encoding="utf-8")
        if before.count(mutation.old) != 1:
            raise ValueError(
                f"{mutation.file}: {mutation.old!r} occurs {before.count(mutation.old)} times, expected 1"
            )
        path.write_text(before.replace(mutation.old, mutation.new), encoding="utf-8")
        try:
            file, *chosen_by = mutation.tests.split(" ")
            code, failed = failed_tests([f"tests/{file}", *chosen_by], root)
        finally:
            path.write_text(before, encoding="utf-8")
        yield mutation, failed[0] if code == TESTS_FAILED and failed else ""


def main() -> None:
    """Print a line for each mutation; exit with 1 if one survives."""
    seen: list[str] = []
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        root = copied(Path(folder))
        print("| file | mistake | seen by |\n|---|---|---|", flush=True)
        for mutation, seen_by in outcomes(chosen(sys.argv[1:]), root):
            survived += not seen_by
            seen += [seen_by] if seen_by else []
            mistake = " ".join(f"`{mutation.old}` -> `{mutation.new}`".split())
            print(f"| {mutation.file} | {mistake} | {seen_by or 'NO TEST'} |", flush=True)
        _, failing = failed_tests(seen, root) if seen else (0, [])
    print(f"{survived} survived; without a mistake {', '.join(failing) or 'nothing'} fails", file=sys.stderr)
    raise SystemExit(1 if survived or failing else 0)


if __name__ == "__main__":
    main()
