"""The protocols that models were trained by, from the settings in their records: which are one, and each in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.models.catalogue import normalises_over_windows
from bench.paper.names import in_paper_order, short_name
from bench.results.record import Record
from bench.studies.aggregate import Group
from bench.studies.tried import n_tried

# How a batch is split between forward passes is told apart, by `smaller_batches`.
_EXECUTION = ("micro_batch_size",)
_SEARCHED = ("learning_rate", "weight_decay")
_NAMES = {"adam": "Adam", "adamw": "AdamW"}
# Hyperparameters of one model that regularise it; no recipe changes them.
_KEPT = {"channel_dropout": "channel dropout", "drop_path": "drop path"}
_AVERAGED = ("medformer", "medformer-latest")
"""The models that were published with averaged weights, as the recipe `medformer` has them."""


@dataclass(frozen=True)
class Protocol:
    """Models that were trained alike on every dataset that they share, and their training settings there."""

    models: tuple[str, ...]
    settings: tuple[Mapping[str, Any], ...]

    @property
    def words(self) -> str:
        """The settings in words; those that differ between datasets as a range."""
        return _in_words(self.settings)


def protocols(studies: Mapping[str, Iterable[Group]]) -> list[Protocol]:
    """Return the protocols of models, in the order of the paper, from their records by dataset.

    Estimators have no epochs and so no protocol: they are left out. Models are of one protocol where all their training
    settings are equal on each dataset; settings that were searched count as equal when equally many configurations were
    tried for each model.
    """
    by_model: dict[str, dict[str, Mapping[str, Any]]] = {}
    for dataset, groups in studies.items():
        for group in groups:
            if _is_trained(group):
                by_model.setdefault(group.model, {})[dataset] = _settings(group.records[0])
    alike: list[tuple[list[str], dict[str, Mapping[str, Any]]]] = []
    for model in in_paper_order(by_model):
        own = by_model[model]
        for models, known in alike:
            if all(known.get(dataset, settings) == settings for dataset, settings in own.items()):
                models.append(model)
                known.update(own)
                break
        else:
            alike.append(([model], dict(own)))
    return [Protocol(tuple(models), tuple(known.values())) for models, known in alike]


def protocols_in_words(studies: Mapping[str, Sequence[Group]]) -> str:
    """Return each protocol with its models, in sentences; with one protocol, what is not equal all the same."""
    found = protocols(studies)
    if not found:
        return ""
    if len(found) > 1:
        each = "; ".join(f"{', '.join(protocol.models)}: {protocol.words}" for protocol in found)
        return (
            f"Not one protocol: models with different protocols are neither ranked nor marked best. {each}."
        )
    if len(found[0].models) == 1:
        return f"Training: {found[0].words}."
    unequal = _unequal([group for groups in studies.values() for group in groups if _is_trained(group)])
    return f"One protocol for all models: {found[0].words}. Not equal: {unequal}."


def number_of_protocols(studies: Mapping[str, Sequence[Group]]) -> str:
    """Return a sentence where models were trained by several protocols, else nothing."""
    n_found = len(protocols(studies))
    return f"Models were trained by {n_found} protocols, see the main results." if n_found > 1 else ""


def smaller_batches(studies: Mapping[str, Iterable[Group]]) -> str:
    """Return over how many windows models normalised where that were fewer than their batch; else nothing."""
    smaller = [
        (group.model, dataset, record)
        for dataset, groups in studies.items()
        for group in groups
        for record in group.records
        if record.micro_batch_size_used is not None and record.micro_batch_size_used < _batch(record)
    ]
    if not smaller:
        return ""
    found = {
        f"{model} on {short_name(dataset)} over {record.micro_batch_size_used} instead of {_batch(record)}": None
        for model, dataset, record in smaller
        if normalises_over_windows(record.cell.model)
    }
    if not found:
        return ""
    return (
        f"Normalised over the windows of one forward pass, which are fewer than a batch: {', '.join(found)}."
    )


def _is_trained(group: Group) -> bool:
    return bool(group.records) and not group.records[0].is_estimator


def _batch(record: Record) -> int:
    """Return the windows of an optimiser's step, all of them where there are fewer than the recipe asks for."""
    return min(record.settings["training"]["batch_size"], record.data.n_train_windows_used)


def _settings(record: Record) -> dict[str, Any]:
    """Return what makes a protocol: the training settings, or the size of the search that chose some of them."""
    training = {name: value for name, value in record.settings["training"].items() if name not in _EXECUTION}
    tried = n_tried(record)
    if tried is not None:
        training = {name: value for name, value in training.items() if name not in _SEARCHED}
    return training | {"n_tried": tried}


def _in_words(settings: Sequence[Mapping[str, Any]]) -> str:
    first = settings[0]
    n_found = first["n_tried"]
    if n_found is not None:
        whose = (
            "as published for each model"
            if n_found == 1
            else f"of the best of {n_found} tried configurations"
        )
        parts = [_NAMES[first["optimizer"]], f"learning rate, weight decay and dropout {whose}"]
    else:
        parts = [f"{_NAMES[first['optimizer']]} at learning rate {_values(settings, 'learning_rate')}"]
        parts += _where_set(settings, "weight_decay", "weight decay {}")
    parts.append("cosine schedule" if first["schedule"] == "cosine" else "constant rate")
    parts += _where_set(settings, "warmup_epochs", "warm-up epochs {}")
    parts += _where_set(settings, "label_smoothing", "label smoothing {}")
    parts.append(f"batch {_values(settings, 'batch_size')}")
    stops = first["patience"] is not None
    parts.append(f"{'at most ' if stops else ''}{_values(settings, 'epochs')} epochs")
    parts += _where_set(settings, "patience", "stopped after {} epochs without improvement")
    parts += _where_set(settings, "clip_norm", "gradients clipped to {}")
    parts += ["own augmentation where a model has one"] if first["augmentation"] else []
    parts += ["weights averaged over epochs"] if first["weight_averaging"] else []
    parts += _where_set(settings, "max_train_windows", "at most {} training windows")
    parts += [] if first["precision"] == "float32" else [first["precision"]]
    return ", ".join(parts)


def _where_set(settings: Sequence[Mapping[str, Any]], name: str, text: str) -> list[str]:
    return [text.format(_values(settings, name))] if any(values[name] for values in settings) else []


def _values(settings: Sequence[Mapping[str, Any]], name: str) -> str:
    """Return a value, or the smallest and the largest where it differs between datasets."""
    found = sorted({values[name] or 0 for values in settings})
    return f"{found[0]:g}" if len(found) == 1 else f"{found[0]:g} to {found[-1]:g}"


def _unequal(groups: Sequence[Group]) -> str:
    """Say which parts of training stay each model's own under one protocol, and which it has lost."""
    records = {group.model: group.records[0] for group in groups}
    said: dict[str, list[str]] = {}
    for model in in_paper_order(records):
        for remark in _own_training(records[model]):
            said.setdefault(remark, []).append(model)
    each = [f"{', '.join(models)} {remark}" for remark, models in said.items() if len(models) < len(records)]
    return "; ".join(["architecture, width and dropout are each model's own", *each])


def _own_training(record: Record) -> list[str]:
    hyperparameters, training = record.settings["hyperparameters"], record.settings["training"]
    kept = [word for name, word in _KEPT.items() if hyperparameters.get(name)]
    lost = []
    if "augmentations" in hyperparameters and not training["augmentation"]:
        lost.append("augmentation")
    if record.cell.model in _AVERAGED and not training["weight_averaging"]:
        lost.append("averaging of weights")
    remarks = {"with its own": kept, "without its published": lost}
    return [f"{text} {' and '.join(words)}" for text, words in remarks.items() if words]
