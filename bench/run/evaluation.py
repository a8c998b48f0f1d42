"""Testing a foreign checkpoint: weights of the published code, this harness's data and scores."""

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from bench import datasets, models
from bench.errors import ModelError
from bench.models.reference_weights import unwrapped
from bench.results.record import Scores
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


def evaluate_checkpoint(
    weights: Path,
    model: str,
    dataset: str,
    data: Path,
    *,
    assignments: Sequence[str],
    seed: int,
    allow_skipped: bool = False,
) -> Scores:
    """Score a checkpoint of the published code on the test part of a dataset's published split.

    Parameters
    ----------
    weights
        A ``.pth`` file of the published code or a ``.safetensors`` file with its tensor names.
    model, dataset
        Registered names.
    data
        Folder with one sub-folder per dataset.
    assignments
        Hyperparameters of the checkpoint, as for ``--set``.
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
        **settings.hyperparameters,
        **settings.execution,
    )
    tensors = unwrapped(read_tensors(weights))
    _refuse_unknown_modes(model, built.state_dict(), tensors)
    models.load_reference_weights(built, tensors)
    test = Parts.of(loaded, split).test
    logits = predict(built, test, settings.protocol.batch_size, seed)
    return score(logits, test.part_labels, test.part_subjects, facts.class_names)


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
    except (pickle.UnpicklingError, *_DAMAGE) as error:
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
