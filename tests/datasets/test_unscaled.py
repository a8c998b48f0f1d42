"""Windows in the units of their source are what the source's files hold."""

from pathlib import Path

import numpy as np
import pytest

from bench import datasets
from bench.datasets import ptb_xl
from bench.datasets.formats.wfdb_file import read_wfdb
from bench.datasets.resampling import resample_linear
from bench.datasets.simulate.cohort import simulate
from bench.datasets.unscaled import recording_scale


def test_windows_of_ptb_xl_come_back_in_millivolt(real: Path, shared_cache: Path) -> None:
    loaded = datasets.load("ptb-xl", real, normalise=False)
    scale = recording_scale(real, loaded)
    assert scale is not None
    name = loaded.record[0]
    record = next(found for found in ptb_xl.records(real / "ptb-xl").records if found.name == name)
    signal = read_wfdb(
        real / "ptb-xl",
        record.paths[0].removesuffix(".hea"),
        channel_names=ptb_xl.FACTS.channel_names,
        sampling_rate_hz=ptb_xl.SOURCE_RATE_HZ,
    )
    rows = slice(0, ptb_xl.WINDOWS_PER_RECORD)
    assert set(loaded.record[rows]) == {name}
    found = scale.undone(loaded.windows[rows], rows).reshape(-1, 12)
    np.testing.assert_allclose(found, resample_linear(signal, 2500), atol=1e-6)


def test_a_reader_that_scales_no_recording_has_no_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    simulate("uci-har", tmp_path, n_subjects=4, seconds=4.0, seed=1)
    assert recording_scale(tmp_path, datasets.load("uci-har", tmp_path, normalise=False)) is None
