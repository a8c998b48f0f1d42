"""Weights of the published code: from their tensor names to ours, strictly."""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from bench.errors import ModelError

# Deterministic tables and the never-called calendar embedding, in nearly every published transformer.
ALWAYS_UNUSED = (r".*position_embedding\.pe", r".*temporal_embedding\.embed\.weight")

# What wrappers put before the names of a model's tensors, and the count that averaged models keep.
_WRAPPED, _COMPILED, _AVERAGED = "module.", "_orig_mod.", "n_averaged"

SAME_SETTINGS = "build the model with the checkpoint's settings"
WHOLE = f"is the checkpoint whole? If so, {SAME_SETTINGS}"


@dataclass(frozen=True)
class ReferenceNames:
    r"""How the published code's tensors are called here.

    Attributes
    ----------
    renames
        Regular expression over a whole published name -> our name, with group references such as ``\1``. Groups are
        not nested and nothing but a group or ``\d+`` is variable, so that names are found the other way round too.
        ``name@0``, ``name@1``, ... are parts of one tensor of ours, joined along the first axis in that order.
    unused
        Regular expressions of published tensors that take no part in classification: expected and skipped.
    ours_only
        Our tensors that the published state dict does not store; they keep their value.
    """

    renames: Mapping[str, str]
    unused: tuple[str, ...] = ()
    ours_only: tuple[str, ...] = ()

    def ours(self, published: str) -> str | None:
        """Return our name for a published one, or None when no rule knows it."""
        for pattern, name in self.renames.items():
            if re.fullmatch(pattern, published):
                return re.sub(pattern, name, published)
        return None

    def published(self, ours: str) -> dict[int, str]:
        """Return the published name of each part of our tensor; empty where the rules don't tell."""
        found: dict[int, str] = {}
        for pattern, name in self.renames.items():
            whole, _, part = name.partition("@")
            match = re.fullmatch(_as_pattern(whole), ours)
            if match is None:
                continue
            groups = iter(range(1, re.compile(pattern).groups + 1))
            filled = re.sub(
                r"\([^()]*\)", lambda _, m=match, g=groups: m.groupdict().get(f"_{next(g)}", ""), pattern
            )
            published = filled.replace(r"\d+", "0").replace("\\.", ".")
            if self.ours(published) == ours + name[len(whole) :]:
                found.setdefault(int(part or 0), published)
        return found

    def is_unused(self, published: str) -> bool:
        """Tell whether a published tensor is known to take no part in classification."""
        return any(re.fullmatch(pattern, published) for pattern in (*ALWAYS_UNUSED, *self.unused))


def _as_pattern(name: str) -> str:
    r"""Return what matches the names that a replacement such as ``layers.\1.\2`` gives, references as groups."""
    texts, references = re.split(r"\\\d", name), re.findall(r"\\(\d)", name)
    groups = (
        f"(?P<_{reference}>.+)" if reference not in references[:i] else f"(?P=_{reference})"
        for i, reference in enumerate(references)
    )
    return "".join(re.escape(text) + group for text, group in zip(texts, [*groups, ""], strict=True))


def unwrapped(state_dict: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a checkpoint as the model itself names them, whatever it was wrapped in when it was saved.

    Taken off are the marks of parallel, averaged (`torch.optim.swa_utils.AveragedModel`, with its count) and compiled
    models, in any order and number; compiled ones may be parts of the model, too.

    Raises
    ------
    ModelError
        Two tensors would get one name.
    """
    found = {name.replace(_COMPILED, ""): tensor for name, tensor in state_dict.items()}
    if len(found) != len(state_dict):
        raise ModelError(
            f"reference weights: two tensors have one name but for '{_COMPILED}'; save one model alone"
        )
    while True:
        found.pop(_AVERAGED, None)
        if not found or not all(name.startswith(_WRAPPED) for name in found):
            return found
        found = {name.removeprefix(_WRAPPED): tensor for name, tensor in found.items()}


def translate(state_dict: Mapping[str, Tensor], names: ReferenceNames) -> dict[str, Tensor]:
    """Return the published tensors under our names, parts joined.

    Raises
    ------
    ModelError
        A published tensor is unknown, a part of one of ours is missing, or two that must be equal (shared ones) differ.
    """
    parts: dict[str, dict[int, Tensor]] = defaultdict(dict)
    for published, tensor in state_dict.items():
        if names.is_unused(published):
            continue
        ours = names.ours(published)
        if ours is None:
            raise ModelError(
                f"reference weights: unexpected tensor '{published}'; is this another model's checkpoint?"
            )
        name, _, part = ours.partition("@")
        known = parts[name].setdefault(int(part or 0), tensor)
        if known is not tensor and not torch.equal(known, tensor):
            raise ModelError(f"reference weights: '{published}' should equal its shared copies and does not")
    return {name: _joined(name, found, names) for name, found in parts.items()}


def _joined(name: str, found: Mapping[int, Tensor], names: ReferenceNames) -> Tensor:
    """Return our tensor from all of its parts."""
    for part, published in names.published(name).items():
        if part not in found:
            raise ModelError(f"reference weights: no tensor '{published}', a part of our '{name}'; {WHOLE}")
    return torch.cat([found[part] for part in sorted(found)]) if len(found) > 1 else found[0]


def load(model: nn.Module, state_dict: Mapping[str, Tensor], names: ReferenceNames) -> None:
    """Copy published weights into ``model``, from a checkpoint of the model alone or of a wrapped one.

    A trailing axis of length one (pointwise convolutions) is dropped where ours is a linear map. A variant that leaves
    out what the published code stores for it anyway says so in an attribute ``reference_unused``, patterns of
    published names.

    Raises
    ------
    ModelError
        A tensor is missing, left over or of another shape.
    """
    names = replace(names, unused=(*names.unused, *getattr(model, "reference_unused", ())))
    translated = translate(unwrapped(state_dict), names)
    own = model.state_dict()
    for name, tensor in own.items():
        if name in names.ours_only:
            translated.setdefault(name, tensor)
        if name not in translated:
            published = names.published(name).get(0, "?")
            raise ModelError(
                f"reference weights: no tensor '{published}' for our '{name}' {tuple(tensor.shape)}; {WHOLE}"
            )
        translated[name] = _fitted(name, translated[name], tensor)
    left_over = sorted(set(translated) - set(own))
    if left_over:
        raise ModelError(f"reference weights: '{left_over[0]}' has no place in this model; {SAME_SETTINGS}")
    model.load_state_dict(translated)


def _fitted(name: str, given: Tensor, ours: Tensor) -> Tensor:
    """Return a published tensor in our tensor's shape and type."""
    if given.shape == (*ours.shape, 1):
        given = given.squeeze(-1)
    if given.shape != ours.shape:
        raise ModelError(
            f"reference weights: '{name}' has shape {tuple(given.shape)}, expected {tuple(ours.shape)}; {SAME_SETTINGS}"
        )
    return given.to(ours.dtype)
