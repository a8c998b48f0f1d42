"""Trained cells for the tests of analyses: MedMamba on a small simulated UCI-HAR, with and without channel dropout."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench import datasets, models
from bench.datasets.cohort import simulate
from bench.plan.grid import plan
from bench.plan.request import make_request
from bench.results.record import Record
from bench.run.cell import run_cell
from bench.run.job import Job


@dataclass(frozen=True)
class Trained:
    """A results folder, the folder of its data, and its records."""

    out: Path
    data: Path
    records: tuple[Record, ...]

    def with_dropout(self, rate: float) -> list[Record]:
        """Return the records of one rate of channel dropout."""
        return [one for one in self.records if one.settings["hyperparameters"]["channel_dropout"] == rate]


def train(out: Path, data: Path, model: str, *sets: str, seeds: str = "41,42") -> list[Record]:
    """Train a model for an epoch in this process."""
    request = make_request(
        models_text=model,
        datasets_text="uci-har",
        seeds_text=seeds,
        preset_name="paper",
        recipe_name="medmamba",
        assignments=("epochs=1", "batch_size=16", "d_model=16", "n_layers=1", *sets),
    )
    cells = plan(request, {"uci-har": datasets.prepare("uci-har", data)}, out)
    records = []
    for one in cells:
        assert one.cell is not None
        job = Job(
            cell=one.cell,
            model=models.entry(model),
            dataset=datasets.entry("uci-har"),
            data=data,
            out=out,
            device="cpu",
            threads=1,
        )
        records.append(run_cell(job, lambda _: None)[0])
    return records


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    """Four cells of MedMamba, two seeds with channel dropout and two without; only to be read."""
    out, data = tmp_path_factory.mktemp("trained"), tmp_path_factory.mktemp("data")
    simulate("uci-har", data, n_subjects=4, seconds=8.0, seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_CACHE", str(tmp_path_factory.mktemp("cache-of-trained")))
        records = [
            *train(out, data, "medmamba"),
            *train(out, data, "medmamba", "channel_dropout=0.0"),
        ]
        yield Trained(out, data, tuple(records))
