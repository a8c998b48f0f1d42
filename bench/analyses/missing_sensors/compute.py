"""How macro F1 on the test part falls when channels are missing, with and without channel dropout in training.

Source of the question: MedMamba paper, section "Robust Input Modeling via Channel Dropout", which motivates dropout
with missing sensors but does not measure it. A missing channel is zero throughout, like a dropped channel in training,
which after the z-score is the channel's mean; the other channels are not rescaled.
"""

import json
import shlex
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import nn

from bench import datasets
from bench.analyses.analysed_cells import AnalysedCells
from bench.analyses.context import Context, model_names
from bench.analyses.missing_sensors.record import (
    CellRobustness,
    Draws,
    GroupRobustness,
    MissingSensorsRecord,
    Options,
)
from bench.analyses.trained import alike, load_trained, trained_data
from bench.errors import DataError, UsageError
from bench.measure.environment import resolve_device
from bench.results.record import Record
from bench.train.evaluate import predict
from bench.train.part import Part
from bench.train.scores import macro_f1
from bench.train.seeding import derived_seed

N_NUMBERS = 8
"""The largest count of numbers of missing channels that are tried, from none missing to all but one."""

Draw = NDArray[np.bool_]


def numbers_missing(n_channels: int) -> list[int]:
    """Return the numbers of missing channels to try: 0, 1, 2, then evenly to all but one.

    Raises
    ------
    UsageError
        The dataset has a single channel.
    """
    if n_channels < 2:
        raise UsageError(
            f"--datasets: a dataset of {n_channels} channel has none to spare; choose one of several channels"
        )
    spread = np.linspace(2, n_channels - 1, N_NUMBERS - 2).round().astype(int)
    return sorted({0, 1, *(int(number) for number in spread if number < n_channels)})


def draw_missing(
    n_channels: int, numbers: Sequence[int], n_draws: int, rng: np.random.Generator
) -> dict[int, list[Draw]]:
    """Return masks ``(n_channels,)`` of missing channels, by their number: a single mask for 0, else one per draw.

    Each draw is an order in which channels fail, so a channel that is missing early is also missing later.
    """
    orders = [rng.permutation(n_channels) for _ in range(n_draws)]
    return {
        number: [
            np.isin(np.arange(n_channels), order[:number]) for order in (orders if number else orders[:1])
        ]
        for number in numbers
    }


def without_channels(part: Part, missing: Draw) -> Part:
    """Return a part whose missing channels are zero; its windows are copied."""
    windows = part.windows[part.rows]
    windows[:, :, missing] = 0.0
    return Part(windows, part.part_labels, part.part_subjects, np.arange(len(part)))


def robustness(model: nn.Module, part: Part, draws: dict[int, list[Draw]], record: Record) -> CellRobustness:
    """Return the macro F1 of one trained model under every draw and without each channel in turn."""
    batch_size, seed = record.settings["training"]["batch_size"], record.cell.seed

    def f1(missing: Draw) -> float:
        changed = without_channels(part, missing)
        return macro_f1(predict(model, changed, batch_size, seed), changed.part_labels)

    return CellRobustness(
        seed=seed,
        key=record.key,
        random=tuple(Draws(n_missing=number, f1=tuple(map(f1, masks))) for number, masks in draws.items()),
        without=tuple(map(f1, np.eye(part.windows.shape[2], dtype=bool))),
    )


def run(context: Context, options: Options) -> None:
    """Measure macro F1 with channels missing, of cells with and without channel dropout."""
    options = options.model_copy(update={"device": resolve_device(options.device)})
    for dataset in context.dataset_names(options.datasets):
        groups = [
            group
            for model in model_names(options.models)
            for group in context.groups(model, dataset, options.recipe)
        ]
        same = [group for group in groups if group[0].data.fingerprint == groups[0][0].data.fingerprint]
        if len(same) < len(groups):
            context.say(f"leaves out {len(groups) - len(same)} groups of cells trained on other data")
        context.write(analyse_cells(context, [record for group in same for record in group], options))


def analyse_cells(context: Context, records: Sequence[Record], options: Options) -> MissingSensorsRecord:
    """Measure trained cells of one dataset, of one or several models.

    Raises
    ------
    DataError
        The data are not those of the cells, or cells were tested on different windows.
    RecordError
        A cell's weights cannot be used.
    UsageError
        The dataset has one channel.
    """
    dataset = records[0].cell.dataset
    facts = datasets.facts(dataset)
    numbers = numbers_missing(facts.n_channels)
    rng = np.random.default_rng(derived_seed(options.seed, "missing channels"))
    draws = draw_missing(facts.n_channels, numbers, options.draws, rng)
    whole = trained_data(records[0], context.root_for(records)).part("test")
    part = whole.draw(options.windows, np.random.default_rng(derived_seed(options.seed, "test windows")))
    found = _groups(records)
    for group in found:
        _refuse_other_windows(records[0], group[0])

    def measured(record: Record) -> CellRobustness:
        context.say(f"{record.cell.model}, channel dropout {_rate(record)}, seed {record.cell.seed}")
        return robustness(load_trained(context.out, record).to(options.device), part, draws, record)

    return MissingSensorsRecord(
        dataset=dataset,
        channel_names=facts.channel_names,
        n_subjects=len(np.unique(part.part_subjects)),
        n_windows=len(part),
        n_windows_of_part=len(whole),
        windows_per_class=tuple(map(int, np.bincount(part.part_labels, minlength=facts.n_classes))),
        draw_seed=options.seed,
        n_draws=options.draws,
        missing_channels={
            number: tuple(tuple(np.array(facts.channel_names)[mask]) for mask in masks)
            for number, masks in draws.items()
        },
        groups=tuple(
            GroupRobustness(
                about=AnalysedCells.of(group),
                hyperparameters=group[0].settings["hyperparameters"],
                cells=tuple(map(measured, group)),
            )
            for group in found
        ),
        lacking=_lacking(found),
    )


def _groups(records: Sequence[Record]) -> list[list[Record]]:
    """Return groups of cells that may be averaged, by model, the largest rate of channel dropout first."""
    models = dict.fromkeys(record.cell.model for record in records)
    groups = [
        group
        for model in models
        for group in alike(record for record in records if record.cell.model == model)
    ]
    order = list(models)
    return sorted(groups, key=lambda group: (order.index(group[0].cell.model), -(_rate(group[0]) or 0.0)))


def _refuse_other_windows(first: Record, other: Record) -> None:
    """Refuse cells whose test windows differ, so that all are compared on the same."""
    for what, of_first, of_other in (
        ("fingerprint", first.data.fingerprint, other.data.fingerprint),
        ("normalisation", first.data.normalisation, other.data.normalisation),
        ("split", first.settings["data"]["split"], other.settings["data"]["split"]),
        ("split_seed", first.settings["data"]["split_seed"], other.settings["data"]["split_seed"]),
    ):
        if of_first != of_other:
            raise DataError(
                f"cells {first.key[:12]} and {other.key[:12]} were tested on different windows: {what} {of_first} and "
                f"{of_other}; choose one kind with --recipe or use another --out"
            )


def _rate(record: Record) -> float | None:
    return record.settings["hyperparameters"].get("channel_dropout")


def _lacking(groups: Sequence[Sequence[Record]]) -> tuple[str, ...]:
    """Return which cells each model lacks for comparing dropout on and off, with the command that trains them."""
    lines = []
    for model in dict.fromkeys(group[0].cell.model for group in groups):
        of_model = [group for group in groups if group[0].cell.model == model]
        rates = {_rate(group[0]) for group in of_model} - {None}
        if not rates:
            lines.append(f"{model} has no channel dropout to turn off")
        elif 0.0 not in rates:
            lines.append(
                f"no cell of {model} without channel dropout: {_command(of_model[0], ['channel_dropout=0'])}"
            )
        elif rates == {0.0}:
            lines.append(f"no cell of {model} with channel dropout: {_command(of_model[0], [])}")
    return tuple(lines)


def _command(group: Sequence[Record], sets: Sequence[str]) -> str:
    """Return the command that trains the same cells with another channel dropout, which ``sets`` may give."""
    first, settings = group[0], group[0].settings
    values = {**settings["training"], **settings["data"], **settings["hyperparameters"]}
    values |= settings["execution"]
    own = [
        f"{name}={'none' if values[name] is None else json.dumps(values[name]).strip(chr(34))}"
        for name, origin in sorted(settings["origins"].items())
        if origin == "--set" and name in values and name != "channel_dropout"
    ]
    words = ["bench", "run", "--preset", settings["preset"]["name"], "--recipe", first.cell.recipe]
    words += ["--models", first.cell.model, "--datasets", first.cell.dataset]
    words += ["--seeds", ",".join(str(record.cell.seed) for record in group), "--no-ablation"]
    for setting in [*own, *sets]:
        words += ["--set", setting]
    return f"{shlex.join(words)}, with the --data and --out of the others"
