"""Settings: which source wins, what is refused, and what the files say."""

import pytest

from bench.errors import UsageError
from bench.models import registry
from bench.settings import preset, preset_names, recipe_names, resolve
from bench.settings.resolve import check_assignments, parse_assignments


def settle(
    model: str = "medmamba", dataset: str = "ptb-xl", recipe: str = "published", **assignments: object
):
    return resolve(model, dataset, 41, recipe_name=recipe, preset=preset("paper"), assignments=assignments)


def test_published_gives_every_model_its_own_protocol() -> None:
    assert settle("medmamba").training.optimizer == "adamw"
    assert settle("transformer").training.optimizer == "adam"


@pytest.mark.parametrize("recipe", ["medmamba", "medformer"])
def test_a_named_protocol_is_for_every_model(recipe: str) -> None:
    trainings = [settle(model, recipe=recipe).training for model in ("medmamba", "transformer")]
    assert trainings[0] == trainings[1]


@pytest.mark.parametrize(
    ("recipe", "dataset", "batch"),
    [
        ("medmamba", "ptb-xl", 512),
        ("medmamba", "apava", 128),
        ("medformer", "apava", 32),
        ("medformer", "ptb-xl", 256),
        ("medformer", "uci-har", 32),
        ("medformer", "adftd", 128),
    ],
)
def test_batch_sizes_of_the_protocols(recipe: str, dataset: str, batch: int) -> None:
    assert settle(dataset=dataset, recipe=recipe).training.batch_size == batch


def test_the_protocols_numbers() -> None:
    ours, theirs = settle(recipe="medmamba").training, settle(recipe="medformer").training
    assert (ours.learning_rate, ours.weight_decay, ours.epochs, ours.warmup_epochs) == (5e-4, 0.1, 50, 5)
    assert (ours.label_smoothing, ours.clip_norm, ours.patience) == (0.02, 4.0, None)
    assert (theirs.learning_rate, theirs.weight_decay, theirs.epochs, theirs.patience) == (1e-4, 0.0, 100, 10)
    assert (theirs.min_improvement, theirs.clip_norm, theirs.label_smoothing) == (1e-5, 4.0, 0.0)


def test_only_medformer_averages_weights_and_augments() -> None:
    for name in registry.names():
        training = settle(name, recipe="medformer").training
        assert training.weight_averaging == name.startswith("medformer")
    assert settle("medformer").hyperparameters["augmentations"] == ["jitter0.2", "scale0.2", "drop0.5"]


def test_equal_terms_have_no_augmentation() -> None:
    settings = settle("medformer", recipe="medmamba")
    assert settings.hyperparameters["augmentations"] == ["none"]
    assert "no augmentation" in settings.origins["augmentations"]


def test_the_user_wins_and_is_named() -> None:
    settings = settle("transformer", epochs=3, d_model=64)
    assert (settings.training.epochs, settings.hyperparameters["d_model"]) == (3, 64)
    assert settings.origins["epochs"] == settings.origins["d_model"] == "--set"


def test_a_variant_keeps_its_own_settings() -> None:
    assert settle("medmamba-single-scale").hyperparameters["strides"] == (5,)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ({"epochs": 0}, "epochs=0: Input should be greater than or equal to 1"),
        ({"learning_rate": "fast"}, "learning_rate='fast'"),
        ({"normalisation": "minmax"}, "normalisation='minmax'"),
    ],
)
def test_values_out_of_bounds_are_refused(assignment: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settle(**assignment)


def test_a_typo_is_answered_with_the_nearest_key() -> None:
    with pytest.raises(UsageError, match=r"unknown setting 'epoch'\. Did you mean 'epochs'"):
        check_assignments({"epoch": 3}, ["transformer"])


def test_a_key_of_no_asked_model_is_refused() -> None:
    check_assignments({"d_state": 8}, ["transformer", "medmamba"])
    with pytest.raises(UsageError, match="unknown setting 'd_state'"):
        check_assignments({"d_state": 8}, ["transformer"])


def test_assignments_are_typed() -> None:
    parsed = parse_assignments(
        ("epochs=3", "strides=[5, 10]", "precision=bfloat16", "patience=none", "dropout=0.2")
    )
    assert parsed == {
        "epochs": 3,
        "strides": [5, 10],
        "precision": "bfloat16",
        "patience": None,
        "dropout": 0.2,
    }


def test_an_assignment_needs_an_equals_sign() -> None:
    with pytest.raises(UsageError, match="expected key=value"):
        parse_assignments(("epochs",))


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_resolves_everywhere(name: str) -> None:
    chosen = preset(name)
    assert chosen.recipe in recipe_names()
    for model in registry.names():
        for dataset in ("ptb-xl", "sleep-edf"):
            resolve(model, dataset, 41, recipe_name=chosen.recipe, preset=chosen, assignments={})


def test_what_the_presets_promise() -> None:
    assert preset("paper").seeds == (41, 42, 43, 44, 45)
    assert preset("quick").seeds == (41,)
    demo = preset("demo")
    assert demo.simulated
    assert (demo.seeds, demo.training["epochs"], demo.training["max_train_windows"]) == ((41, 42), 3, 300)
    assert demo.hyperparameters["d_model"] == 32
