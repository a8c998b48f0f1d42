"""Validated settings: recipes, presets and hyperparameters are data files, resolved in one place."""

from bench.settings.resolve import CellSettings, resolve
from bench.settings.schema import Preset, Training
from bench.settings.tables import preset, preset_names, recipe_names

__all__ = ["CellSettings", "Preset", "Training", "preset", "preset_names", "recipe_names", "resolve"]
