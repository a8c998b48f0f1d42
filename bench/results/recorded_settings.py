"""The settings in a record of a cell: the parts and types that reports rely on, whoever wrote the record."""

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bench.results.field_types import Count, Name, Seed, Share, Size


class _Training(BaseModel):
    """Other fields come and go with the trainer."""

    epochs: Size
    batch_size: Size
    micro_batch_size: Size | None


class _Fitting(BaseModel):
    """What there is to say of an estimator's fit."""

    model_config = ConfigDict(extra="forbid")

    max_train_windows: Size | None


class _Tuned(BaseModel):
    chosen: Size
    tried: Size
    failed: Count
    val_f1: Share | None


class _Data(BaseModel):
    split: str
    split_seed: Seed


class _Preset(BaseModel):
    name: str
    simulated: bool
    training: dict[str, Any]
    hyperparameters: dict[str, Any]


class _Settings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    model: Name
    dataset: Name
    seed: Seed
    recipe: Name
    preset: _Preset
    training: _Training | _Fitting
    hyperparameters: dict[str, Any]
    data: _Data
    execution: dict[str, Any]
    origins: dict[str, str]
    changed: list[str]
    candidate: Size | None = None
    tuned: _Tuned | None = None
    control: Name | None = None


def checked_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a cell as they are.

    Raises
    ------
    ValueError
        A part is missing or of the wrong type, or a value is changed that no part has.
    """
    try:
        _Settings.model_validate(settings)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"'{'.'.join(map(str, first['loc']))}': {first['msg']}") from error
    parts = [settings[part] for part in ("training", "hyperparameters", "data", "execution")]
    unknown = sorted(set(settings["changed"]) - {name for part in parts for name in part})
    if unknown:
        raise ValueError(f"'changed' names '{unknown[0]}', which is no setting of the cell")
    return settings
