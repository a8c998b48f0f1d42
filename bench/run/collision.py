"""A cell that was trained twice at once, as can happen where a file system has no locks: the first record stays."""

from bench.files import atomic_file
from bench.results.record import Metrics, Record
from bench.results.store import find_record
from bench.run.job import Job


def earlier_record(job: Job, metrics: Metrics) -> Record | None:
    """Return the record that another process has finished meanwhile, or None.

    Equal scores collide harmlessly. Others are written to ``differs-N.json`` beside the record, and said in the log:
    the two ran in different environments, or something is not as reproducible as it should be.
    """
    found = find_record(job.out, job.name, job.cell.key)
    if found is None or not found.is_done:
        return None
    if found.metrics != metrics:
        number = 1
        while (target := job.folder.path / f"differs-{number}.json").exists():
            number += 1
        with atomic_file(target) as path:
            path.write_text(metrics.model_dump_json(indent=1) + "\n", encoding="utf-8")
        print(f"another process finished this cell first, with other scores; these are in {target.name}")
    return found
