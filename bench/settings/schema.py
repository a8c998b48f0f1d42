"""The fields of every settings file, with their units and bounds."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

PUBLISHED = "published"
_FOLD = re.compile(r"fold[ -]([0-9]{1,4})/([0-9]{1,4})")


class Frozen(BaseModel):
    """Base of all settings: immutable, and unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Training(Frozen):
    """How one cell is trained. Every field is part of the cell's key."""

    optimizer: Literal["adam", "adamw"] = Field(description="torch optimiser")
    learning_rate: float = Field(gt=0, description="peak learning rate")
    weight_decay: float = Field(ge=0, description="decoupled weight decay; zero where a model marks a tensor")
    schedule: Literal["cosine", "constant"] = Field(description="learning rate after the warm-up")
    warmup_epochs: int = Field(ge=0, description="epochs of linear warm-up")
    warmup_start: float = Field(
        gt=0, le=1, description="learning rate at the first step, as a part of the peak"
    )
    epochs: int = Field(ge=1, description="largest number of epochs")
    patience: int | None = Field(default=None, ge=1, description="epochs without improvement before stopping")
    min_improvement: float = Field(
        default=0.0, ge=0, description="smallest gain of macro F1 that counts (0 to 1)"
    )
    batch_size: int = Field(ge=1, description="windows per optimiser step")
    micro_batch_size: int | None = Field(
        default=None,
        ge=1,
        description="windows per forward pass, accumulated to batch_size; none: the whole batch",
    )
    label_smoothing: float = Field(ge=0, lt=1, description="cross-entropy label smoothing")
    clip_norm: float = Field(gt=0, description="largest total norm of the gradient")
    augmentation: bool = Field(description="a model's own published augmentations are on")
    weight_averaging: bool = Field(
        description="equal-weight average of the weights at the end of every epoch"
    )
    precision: Literal["float32", "bfloat16"] = Field(
        default="float32", description="autocast type; the scan stays float32"
    )
    max_train_windows: int | None = Field(
        default=None,
        ge=1,
        description="train on a seeded, class-stratified draw of at most this many windows",
    )


class Fitting(Frozen):
    """How an estimator is fitted: it has no epochs, so that no recipe changes it."""

    max_train_windows: int | None = Field(
        default=None,
        ge=1,
        description="fit on a seeded, class-stratified draw of at most this many windows",
    )


class DataSettings(Frozen):
    """The choice of a cell's windows."""

    normalisation: Literal["window", "channel", "none"] | None = Field(
        default=None, description="scaling of the windows; the dataset's own if not set"
    )
    split: str = Field(
        default=PUBLISHED,
        description="published, stratified, or 'fold k/n'; by subject always",
    )
    split_seed: int = Field(default=41, ge=0, description="seed of a stratified or folded split")

    @field_validator("split")
    @classmethod
    def _split_is_known(cls, text: str) -> str:
        fold = _FOLD.fullmatch(text)
        if text not in (PUBLISHED, "stratified") and not (fold and 1 <= int(fold[1]) <= int(fold[2])):
            raise ValueError("use published, stratified or 'fold k/n' with k from 1 to n")
        return text

    @model_validator(mode="after")
    def _seed_counts(self) -> "DataSettings":
        """Refuse a seed that would be ignored."""
        if self.split == PUBLISHED and self.split_seed != DataSettings.model_fields["split_seed"].default:
            raise ValueError("only a stratified or folded split has a seed; add --set split=stratified")
        return self


class Overlay(Frozen):
    """The changes of a settings file for one dataset or model, with their source."""

    model_config = ConfigDict(frozen=True, extra="allow")

    source: str = ""

    def values(self) -> dict[str, Any]:
        """Return the changed fields."""
        return dict(self.__pydantic_extra__ or {})


class Search(Frozen):
    """The grid that a recipe draws configurations from, each tried with the same seed.

    ``order_seed`` seeds the order of the draws, ``training_seed`` every training that tries one.
    """

    order_seed: int = Field(ge=0)
    training_seed: int = Field(ge=0)
    learning_rate: tuple[float, ...]
    weight_decay: tuple[float, ...]
    dropout: tuple[float, ...]


class Tuned(Frozen):
    """The configuration that a cell has: the best of those tried, by validation macro F1 (0 to 1).

    ``val_f1`` is None where only one was given, so that there was nothing to choose.
    """

    chosen: int
    tried: int
    failed: int = 0
    val_f1: float | None = None


class Recipe(Frozen):
    """A training protocol, or (``follows``) the choice of another protocol for each model.

    ``because`` gives the reason of a choice, which becomes part of the origins of the settings. Both are by a model's
    name, or by a pattern of names such as ``braindecode.*``. With a ``search``, each
    model is trained with the best of several configurations.
    """

    description: str
    source: str
    training: Training | None = None
    follows: dict[str, str] = {}
    because: dict[str, str] = {}
    dataset: dict[str, Overlay] = {}
    model: dict[str, Overlay] = {}
    search: Search | None = None

    def followed_by(self, model: str) -> str | None:
        """Return the name of the recipe that a model follows; None where this recipe is the model's own."""
        return _named(self.follows, model) or self.follows.get("default")

    def reason_for(self, model: str) -> str | None:
        """Return why a model follows what it follows, None where nothing is said."""
        return _named(self.because, model)


def _named(values: Mapping[str, str], model: str) -> str | None:
    """Return the value of a model's name, else of the first pattern that it matches."""
    matching = (value for pattern, value in values.items() if fnmatchcase(model, pattern))
    return values.get(model) or next(matching, None)


class EfficiencyRun(Frozen):
    """How much ``bench run`` measures of the models' cost once their cells are done."""

    batch: str = Field(default="1,256", description="windows at once in inference, a comma list")
    train_batch: str = Field(default="32", description="windows in a step of training")
    time_limit: float = Field(
        default=45.0, ge=0, description="seconds for the timings of one model, on average"
    )


class Preset(Frozen):
    """A named bundle of settings for ``bench run --preset``; its name is that of its file.

    ``configurations`` is how many a recipe with a search tries for each model.
    """

    name: str = ""
    description: str
    recipe: str
    configurations: int | None = Field(default=None, ge=1)
    seeds: tuple[int, ...]
    simulated: bool = False
    training: dict[str, Any] = {}
    hyperparameters: dict[str, Any] = {}
    dataset: dict[str, Overlay] = {}
    efficiency: EfficiencyRun = EfficiencyRun()


class Hyperparameters(Frozen):
    """A model's published hyperparameters; ``wide`` is the set of the efficiency figure."""

    source: str
    default: dict[str, Any] = {}
    dataset: dict[str, Overlay] = {}
    wide: Overlay | None = None
