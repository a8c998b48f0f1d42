"""A cell that was trained twice at once, as can happen where a file system has no locks: the first record stays."""

import json

from bench.files import atomic_file, free_name
from bench.results.record import Environment, Metrics, Record
from bench.results.store import find_record
from bench.run.job import Job


def earlier_record(job: Job, metrics: Metrics, environment: Environment) -> tuple[Record | None, str]:
    """Return the finished record that another process has written meanwhile, or None, and what is to be said of it.

    Equal scores collide harmlessly. Others are written to ``differs-N.json`` beside the record, with the environment
    that gave them: the two environments differ, or something is not as reproducible as it should be.
    """
    found = find_record(job.out, job.name, job.cell.key)
    if found is None or not found.is_done:
        return None, ""
    if found.metrics == metrics:
        return found, ""
    target = free_name(job.folder.path, "differs-{}.json")
    content = {"metrics": metrics.model_dump(mode="json"), "environment": environment.model_dump(mode="json")}
    with atomic_file(target) as path:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return (
        found,
        f"another process finished this cell first, with other scores; those of this one are in {target.name}",
    )
