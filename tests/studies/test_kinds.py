"""What pictures and captions say of the kind of data."""

import pytest

from bench.results.record import DataDescription
from bench.studies import kinds
from tests.report.grids import Grid, write_grid


@pytest.fixture
def data(tmp_path_factory: pytest.TempPathFactory) -> DataDescription:
    out = tmp_path_factory.mktemp("grid")
    return write_grid(out, Grid(models=("medmamba",), datasets=("uci-har",), seeds=(41,)))[0].data


def test_a_picture_says_how_much_of_converted_data_there_is(data: DataDescription) -> None:
    converted = data.model_copy(update={"kind": "converted", "share": 0.942})
    assert (
        kinds.data_stamp("UCI-HAR", converted)
        == "UCI-HAR. Converted data, 94.2 % of the windows: not the publisher's own files"
    )


def test_a_picture_of_whole_data_names_the_dataset_only(data: DataDescription) -> None:
    assert kinds.data_stamp("UCI-HAR", data) == "UCI-HAR"


def test_an_excerpt_has_no_share(data: DataDescription) -> None:
    excerpt = data.model_copy(update={"kind": "excerpt", "share": 0.325})
    assert kinds.data_stamp("UCI-HAR", excerpt) == kinds.stamp("UCI-HAR", "excerpt")
