"""Testing a file of weights, of the published code or of this project, on a dataset's test part."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bench import datasets, models
from bench.datasets.contract import Kind
from bench.errors import ModelError
from bench.models.reference_weights import unwrapped
from bench.results.record import Scores
from bench.results.store import CellFolder, read_record
from bench.run.planned_inputs import Parts
from bench.settings import preset, resolve
from bench.settings.resolve import check_assignments, parse_assignments
from bench.train.evaluate import predict
from bench.train.scores import score

# What torch raises on files that are empty, text or cut; found by giving it such.
_DAMAGE = (
    RuntimeError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    OSError,
)


@dataclass(frozen=True)
class Evaluated:
    """Scores of a test part, the kind of its data, the origin of its split, and its windows of each class."""

    scores: Scores
    kind: Kind
    split: str
    windows_per_class: tuple[int, ...]


def evaluate_checkpoint(
    weights: Path,
    model: str,
    dataset: str,
    data: Path,
    *,
    assignments: Sequence[str],
    seed: int,
    allow_skipped: bool = False,
) -> Evaluated:
    """Score weights on the test part of a dataset's published split.

    Parameters
    ----------
    weights
        A ``.pth`` or ``.safetensors`` file with the tensor names of the published code, or with this project's own.
        The hyperparameters of a cell's own file are those of the record beside it.
    model, dataset
        Registered names.
    data
        Folder with one sub-folder per dataset.
    assignments
        Hyperparameters of the weights, as for ``--set``; they come after a record's.
    seed
        Seeds models that draw numbers in evaluation.
    allow_skipped
        Accept more than 1 percent of damaged records.

    Raises
    ------
    ModelError
        The file holds no tensors, or not this model's.
    DataError
        The dataset is missing or unusable.
    """
    parsed = parse_assignments(tuple(assignments))
    check_assignments(parsed, [model])
    settings = resolve(
        model, dataset, seed, recipe_name="published", preset=preset("paper"), assignments=parsed
    )
    manifest = datasets.prepare(dataset, data, allow_skipped=allow_skipped)
    split = datasets.make_split(
        dataset, manifest.subjects, how=settings.data.split, seed=settings.data.split_seed
    )
    loaded = datasets.load(dataset, data, settings.data.normalisation or True, split)
    facts = loaded.facts
    built = models.build(
        model,
        facts.n_channels,
        facts.n_times,
        facts.n_classes,
        **(settings.hyperparameters | _recorded(weights, model, but=parsed)),
        **settings.execution,
    )
    tensors = unwrapped(read_tensors(weights))
    if tensors.keys() == built.state_dict().keys():
        _load_own(weights, built, tensors)
    else:
        _refuse_unknown_modes(model, built.state_dict(), tensors)
        models.load_reference_weights(built, tensors)
    test = Parts.of(loaded, split).test
    logits = predict(built, test, settings.protocol.batch_size, seed)
    counts = np.bincount(test.part_labels, minlength=facts.n_classes)
    return Evaluated(
        scores=score(logits, test.part_labels, test.part_subjects, facts.class_names),
        kind=manifest.provenance.kind,
        split=split.origin,
        windows_per_class=tuple(counts.tolist()),
    )


def _recorded(weights: Path, model: str, *, but: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hyperparameters of the record beside a cell's weights, except those to skip; none without one."""
    folder = CellFolder(weights.parent)
    if weights.name != folder.weights.name or not folder.record.is_file():
        return {}
    record = read_record(folder.record)
    if record.cell.model != model:
        raise ModelError(
            f"{weights}: weights of {record.cell.model}, not of {model}; give --model {record.cell.model}"
        )
    return {name: value for name, value in record.settings["hyperparameters"].items() if name not in but}


def _load_own(weights: Path, model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Load tensors that have this project's names.

    Raises
    ------
    ModelError
        A tensor has another shape.
    """
    ours = model.state_dict()
    for name, tensor in tensors.items():
        if tensor.shape != ours[name].shape:
            raise ModelError(
                f"{weights}: {name} has shape {tuple(tensor.shape)}, the model's has {tuple(ours[name].shape)}; give "
                "the hyperparameters that it was trained with by --set, and the dataset of the same shape"
            )
    model.load_state_dict(dict(tensors))


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read a checkpoint's tensors without executing any code in it.

    Raises
    ------
    ModelError
        The file is no checkpoint, or holds more than tensors.
    """
    if path.suffix == ".safetensors":
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            return load_file(path)
        except (SafetensorError, OSError) as error:
            raise ModelError(f"{path}: not a safetensors file ({error})") from error
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        # PyTorch's own words advise to run it.
        raise ModelError(
            f"{path}: not a file of plain tensors (text, or a pickle with code, which is not run); save the state "
            "dict alone"
        ) from error
    except _DAMAGE as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{path}: not a file of plain tensors ({reason}); save the state dict alone"
        ) from error
    content = content.get("state_dict", content) if isinstance(content, Mapping) else content
    if not isinstance(content, Mapping) or not all(isinstance(value, Tensor) for value in content.values()):
        raise ModelError(f"{path}: not a state dict; save model.state_dict() alone")
    return {name.removeprefix("module."): tensor for name, tensor in content.items()}


def _refuse_unknown_modes(model: str, ours: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> None:
    """Refuse a FEDformer checkpoint without its drawn frequencies: its logits would be meaningless."""
    if "mode_index" in ours and "mode_index" not in given:
        raise ModelError(
            f"{model}: the published checkpoint does not store which frequencies it drew; add them to the file as a "
            "tensor 'mode_index', drawn with the training's seed"
        )
