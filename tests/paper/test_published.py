"""The published numbers are those of the paper's LaTeX source, and the loaders read them whole."""

import re
from itertools import pairwise

import pytest

from bench.paper import published

CELL = re.compile(r"(\\textbf\{)?(\d+\.\d+)\$\\pm\$(\d+\.\d+)")
ROW_ORDER = (
    "autoformer crossformer fedformer informer itransformer mtst nonformer patchtst reformer transformer"
)
COLUMNS = [*ROW_ORDER.split(), "medformer", "medmamba"]
NAMES = {"sleepedf": "sleep-edf", "ours": "medmamba", "f1-score": "f1"}
VARIANTS = {
    "ccc": "medmamba",
    "xcc": "medmamba-single-scale",
    "cxc": "medmamba-unidirectional",
    "ccx": "medmamba-no-channel-mixing",
}


def rows(paper: str, label: str) -> list[list[str]]:
    """Return the cells of a table's body, row by row, as LaTeX."""
    table = paper[paper.index(f"\\label{{{label}}}") :].split("\\end{tabular}")[0]
    body = "\n".join(line for line in table.splitlines() if not line.startswith("%"))
    body = re.sub(r"\\cmidrule\S*|\\(top|mid|bottom)rule", "", body).replace(r"\shortstack", "")
    return [row.split("&") for row in re.split(r"\\\\\s*\n", body)]


def name(latex: str) -> str:
    """Return our name of a model, a dataset or a metric."""
    words = re.sub(r"\\\w+|[{}*$#]|\(.*", " ", latex).split()
    return NAMES.get(words[-1].lower(), words[-1].lower())


def scores(cells: list[str]) -> list[tuple[float, float, bool]]:
    found = [match for match in map(CELL.search, cells) if match]
    return [(float(mean), float(std), bool(bold)) for bold, mean, std in (match.groups() for match in found)]


def test_ecg_table_is_the_papers(paper: str) -> None:
    printed = {}
    for cells in rows(paper, "tab:jbhi_table2"):
        for index, score in enumerate(scores(cells)):
            key = ("ptb", "ptb-xl")[index // 5], name(cells[0]), published.METRICS[index % 5]
            printed[key] = score
    assert printed == _loaded("main_results1")


def test_eeg_and_activity_table_is_the_papers(paper: str) -> None:
    printed, dataset = {}, ""
    for cells in rows(paper, "tab:jbhi_table1"):
        if len(cells) != 14 or not scores(cells):
            continue
        stacked = re.search(r"textbf\{([\w-]+)\}", cells[0])
        dataset = name(stacked[1]) if stacked else dataset
        for model, score in zip(COLUMNS, scores(cells), strict=True):
            printed[dataset, model, name(cells[1])] = score
    assert printed == _loaded("main_results2")


def test_ablation_is_the_papers(paper: str) -> None:
    printed, variant = {}, ""
    for cells in rows(paper, "tab:ablation_vertical"):
        marks = "".join(re.findall(r"\\([cx])mark", cells[0]))
        variant = VARIANTS.get(marks, variant)
        for mean, std, _ in scores(cells):
            drop = re.search(r"downarrow\$([\d.]+)", cells[2])
            printed[variant, name(cells[1])] = (mean, std, float(drop[1]) if drop else None)
    assert printed == {(c.variant, c.metric): (c.mean, c.std, c.drop) for c in published.ablation()}


def test_centralization_is_the_papers(paper: str) -> None:
    table = {
        cells[0].strip(): [float(cell) for cell in cells[1:]]
        for cells in rows(paper, "tab:centralization")
        if cells[0].strip() in ("SCI", "DIC")
    }
    loaded = published.centralization()
    assert [row.dataset for row in loaded] == ["adftd", "apava", "ptb", "ptb-xl", "weather"]
    assert table == {"SCI": [row.sci for row in loaded], "DIC": [row.dic for row in loaded]}


def test_dataset_summary_is_the_papers(paper: str) -> None:
    printed = {}
    for cells in rows(paper, "tab:dataset_summary"):
        if len(cells) == 7 and cells[1].replace(",", "").strip().isdigit():
            counts = [int(cell.replace(",", "")) for cell in cells[1:6]]
            printed[name(cells[0])] = (*counts, cells[6].strip())
    assert printed == {
        row.dataset: (row.n_subjects, row.n_windows, row.n_classes, row.n_channels, row.n_times, row.modality)
        for row in published.dataset_summary()
    }


def test_model_configuration_is_the_papers(paper: str) -> None:
    columns = ["ptb", "ptb-xl", "adftd", "apava", "uci-har", "sleep-edf"]
    table = [cells for cells in rows(paper, "tab:model_config_all") if len(cells) == 7][1:]
    loaded = {row.dataset: row for row in published.model_configuration()}
    fields = ["d_model", "n_layers", "expand", "ffn_expansion", "strides", "dropout", "drop_path"]
    for field, cells in zip([*fields, "channel_dropout"], table, strict=True):
        printed = [tuple(float(number) for number in re.findall(r"[\d.]+", cell)) for cell in cells[1:]]
        values = [getattr(loaded[dataset], field) for dataset in columns]
        assert [value if field == "strides" else (value,) for value in values] == printed, field


@pytest.mark.parametrize(
    ("models", "quantity", "sentence"),
    [
        (("medmamba", "medformer"), "parameters", r"\(([\d.]+)M vs\.\\ ([\d.]+)M\)"),
        (("medmamba", "medformer"), "throughput", r"\(([\d.]+)k vs\.\\ ([\d.]+)k samples/sec\)"),
        (("medmamba",), "f1", r"attains an F1-score of ([\d.]+)\\%"),
        (("medformer",), "f1", r"slightly lower F1-score of ([\d.]+)\\%"),
    ],
)
def test_efficiency_is_the_papers(paper: str, models: tuple[str, ...], quantity: str, sentence: str) -> None:
    printed = re.search(sentence, paper)
    assert printed is not None
    assert [_efficiency(model, quantity) for model in models] == [
        (n, n) for n in map(float, printed.groups())
    ]


@pytest.mark.parametrize(
    ("models", "sentence"),
    [
        (("transformer", "informer", "crossformer", "fedformer"), r"operating at ([\d.]+)--([\d.]+)k"),
        (("patchtst", "autoformer"), r"PatchTST and Autoformer \(([\d.]+)--([\d.]+)k"),
    ],
)
def test_throughput_ranges_are_the_papers(paper: str, models: tuple[str, ...], sentence: str) -> None:
    printed = re.search(sentence, paper)
    assert printed is not None
    low, high = map(float, printed.groups())
    assert {_efficiency(model, "throughput") for model in models} == {(low, high)}


def test_every_cell_of_the_grid_is_there() -> None:
    keys = {(score.dataset, score.model, score.metric) for score in published.main_results()}
    assert len(keys) == len(published.main_results()) == 6 * 12 * 5
    assert len(published.ablation()) == 4 * 5


def test_lookup_returns_the_cell() -> None:
    score = published.lookup("ptb-xl", "medmamba", "f1")
    assert score is not None
    assert (score.mean, score.std, score.bold, score.place) == (64.55, 0.12, True, "main_results1")


@pytest.mark.parametrize(
    "cell", [("ptb", "medmamba", "auprc"), ("ptb", "medformer-latest", "f1"), ("own-data", "medmamba", "f1")]
)
def test_lookup_of_what_the_paper_lacks_is_none(cell: tuple[str, str, str]) -> None:
    assert published.lookup(*cell) is None


def test_each_row_has_one_mark() -> None:
    marked = [(score.dataset, score.metric) for score in published.main_results() if score.bold]
    assert len(marked) == len(set(marked)) == 30


def test_printed_drops_are_differences_of_printed_means() -> None:
    means = {(cell.variant, cell.metric): cell.mean for cell in published.ablation()}
    for cell in published.ablation():
        if cell.drop is not None:
            assert means["medmamba", cell.metric] - cell.mean == pytest.approx(cell.drop, abs=0.0151), cell


def test_models_start_with_medmamba() -> None:
    assert published.models() == ("medmamba", *COLUMNS[:-1])


def test_metrics_come_in_the_order_of_the_columns() -> None:
    order = [published.METRICS.index(score.metric) for score in published.main_results()]
    assert all(after == (before + 1) % 5 for before, after in pairwise(order))


def _loaded(place: str) -> dict[tuple[str, str, str], tuple[float, float, bool]]:
    return {
        (score.dataset, score.model, score.metric): (score.mean, score.std, score.bold)
        for score in published.main_results()
        if score.place == place
    }


def _efficiency(model: str, quantity: str) -> tuple[float, float]:
    row = next(row for row in published.efficiency() if (row.model, row.quantity) == (model, quantity))
    return row.low, row.high
