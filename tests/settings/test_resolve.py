"""Settings: which source wins, what is refused, and what the files say."""

from pathlib import Path

import pytest

from bench.errors import UsageError
from bench.models import registry
from bench.settings import preset, preset_names, recipe_names, resolve
from bench.settings.resolve import check_assignments, parse_assignments
from bench.settings.tables import recipe
from tests.plan.test_cell import make_cell


def settle(
    model: str = "medmamba", dataset: str = "ptb-xl", recipe: str = "published", **assignments: object
):
    return resolve(model, dataset, 41, recipe_name=recipe, preset=preset("paper"), assignments=assignments)


def test_published_gives_every_model_its_own_protocol() -> None:
    assert settle("medmamba").protocol.optimizer == "adamw"
    assert settle("transformer").protocol.optimizer == "adam"


@pytest.mark.parametrize("recipe", ["medmamba", "medformer"])
def test_a_named_protocol_is_for_every_model(recipe: str) -> None:
    trainings = [settle(model, recipe=recipe).protocol for model in ("medmamba", "transformer")]
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
    assert settle(dataset=dataset, recipe=recipe).protocol.batch_size == batch


def test_the_protocols_numbers() -> None:
    ours, theirs = settle(recipe="medmamba").protocol, settle(recipe="medformer").protocol
    assert (ours.learning_rate, ours.weight_decay, ours.epochs, ours.warmup_epochs) == (5e-4, 0.1, 50, 5)
    assert (ours.label_smoothing, ours.clip_norm, ours.patience) == (0.02, 4.0, None)
    assert (theirs.learning_rate, theirs.weight_decay, theirs.epochs, theirs.patience) == (1e-4, 0.0, 100, 10)
    assert (theirs.min_improvement, theirs.clip_norm, theirs.label_smoothing) == (1e-5, 4.0, 0.0)


def test_only_medformer_averages_weights_and_augments() -> None:
    for name in registry.names():
        training = settle(name, recipe="medformer").protocol
        assert training.weight_averaging == name.startswith("medformer")
    assert settle("medformer").hyperparameters["augmentations"] == ["jitter0.2", "scale0.2", "drop0.5"]


def test_the_medmamba_protocol_has_no_augmentation() -> None:
    settings = settle("medformer", recipe="medmamba")
    assert settings.hyperparameters["augmentations"] == ["none"]
    assert "no augmentation" in settings.origins["augmentations"]


BASELINES = [name for name in registry.names() if registry.entry(name).group == "beyond"]


@pytest.mark.parametrize("name", BASELINES)
def test_published_says_why_a_baseline_follows_its_protocol(name: str) -> None:
    settings = settle(name)
    ours = "(ours: " in settings.origins["learning_rate"]
    assert ours == (name not in ("xresnet1d101", "bilstm"))
    assert settings.protocol == settle(name, recipe="equal" if ours else "ecg-benchmark").protocol


def test_reasons_are_of_models_that_follow_a_recipe() -> None:
    published = recipe("published")
    assert set(published.because) == {*BASELINES, "braindecode.*"}
    assert set(published.because) <= set(published.follows)


def test_the_ecg_benchmarks_protocol() -> None:
    convolution, recurrent = settle("xresnet1d101").protocol, settle("bilstm").protocol
    assert (convolution.learning_rate, convolution.batch_size, convolution.epochs) == (1e-2, 128, 50)
    assert (recurrent.learning_rate, recurrent.clip_norm) == (1e-3, 0.25)
    assert "ours" in settle("xresnet1d101", "adftd").origins["batch_size"]


def test_the_user_wins_and_is_named() -> None:
    settings = settle("transformer", epochs=3, d_model=64)
    assert (settings.protocol.epochs, settings.hyperparameters["d_model"]) == (3, 64)
    assert settings.origins["epochs"] == settings.origins["d_model"] == "--set"


def test_a_variant_keeps_its_own_settings() -> None:
    assert settle("medmamba-single-scale").hyperparameters["strides"] == (5,)


def test_set_leaves_a_variant_what_it_is() -> None:
    assert settle("medmamba-single-scale", strides=[5, 10]).hyperparameters["strides"] == (5,)
    assert (
        settle("medmamba-no-channel-mixing", channel_mixing=True).hyperparameters["channel_mixing"] is False
    )


def test_what_every_asked_variant_fixes_is_refused() -> None:
    check_assignments({"strides": [5, 10]}, ["medmamba", "medmamba-single-scale"])
    with pytest.raises(UsageError, match=r"strides=\[5, 10\]: medmamba-single-scale would no longer be"):
        check_assignments({"strides": [5, 10]}, ["medmamba-single-scale"])


def test_augmentations_without_augmentation_are_refused() -> None:
    with pytest.raises(UsageError, match=r"augmentations=.*no effect.*recipe medmamba.*augmentation=true"):
        settle("medformer", recipe="medmamba", augmentations=["jitter0.2"])
    chosen = settle("medformer", recipe="medmamba", augmentations=["jitter0.2"], augmentation=True)
    assert chosen.hyperparameters["augmentations"] == ["jitter0.2"]


def test_switching_augmentation_off_names_the_user() -> None:
    settings = settle("medformer", augmentation=False)
    assert settings.hyperparameters["augmentations"] == ["none"]
    assert settings.origins["augmentations"] == "no augmentation (--set)"


def test_equal_numbers_are_one_value() -> None:
    assert repr(settle(dropout=0).hyperparameters["dropout"]) == "0.0"
    assert settle("transformer", dropout=0) == settle("transformer", dropout=0.0)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ({"d_model": "abc"}, r"--set d_model='abc': not a whole number \(medmamba's default is 128\)"),
        ({"d_model": 8.5}, "d_model=8.5: not a whole number"),
        ({"d_model": True}, "d_model=True: not a whole number"),
        ({"n_layers": 0}, "n_layers=0: not at least 1"),
        ({"dropout": 1}, "dropout=1: a rate is at least 0 and less than 1"),
        ({"strides": 5}, "strides=5: not a list such as"),
        ({"strides": []}, r"strides=\[\]: not a list such as"),
        ({"strides": [5, 0]}, r"strides=\[5, 0\]: not at least 1"),
        ({"bidirectional": 1}, "bidirectional=1: not true or false"),
        ({"merge": 3}, "merge=3: not a text"),
        ({"scan": "fast"}, "unknown scan backend 'fast'"),
        ({"split": "stratifed"}, "--set split='stratifed': use published, stratified or 'fold k/n'"),
        ({"split": "fold 3/2"}, "split='fold 3/2': use published"),
        ({"split": "stratified", "split_seed": -1}, "split_seed=-1"),
        ({"split_seed": 7}, "only a stratified or folded split has a seed"),
    ],
)
def test_values_that_no_model_could_be_built_with_are_refused(assignment: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settle(**assignment)


def test_a_users_own_model_is_held_to_types_only(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(
        "class Net:\n    def __init__(self, *, n_channels, n_times, n_classes, shift=3, gain=1.5): ...\n"
    )
    name = registry.register_file(f"{file}:Net")
    assert settle(name, shift=-2, gain=2).hyperparameters == {"shift": -2, "gain": 2.0}
    with pytest.raises(UsageError, match="shift='a'"):
        settle(name, shift="a")


def test_the_scan_is_a_setting_outside_the_hyperparameters() -> None:
    settings = settle("medmamba", scan="torch")
    assert settings.execution == {"scan": "torch"}
    assert "scan" not in settings.hyperparameters
    assert settle("transformer", scan="torch").execution == {"attention": "auto"}
    check_assignments({"scan": "torch"}, ["transformer", "medmamba"])
    assert make_cell("medmamba", scan="torch").key == make_cell("medmamba").key


def test_changed_are_the_values_that_differ_whoever_typed_them() -> None:
    assert settle("transformer", epochs=100, d_model=128, d_ff=64).changed == ("d_ff",)
    demo = resolve(
        "transformer", "ptb", 41, recipe_name="published", preset=preset("demo"), assignments={"epochs": 100}
    )
    assert "epochs" not in demo.changed
    assert {"d_model", "learning_rate"} <= set(demo.changed)


def test_a_bad_value_of_a_preset_is_blamed_on_it() -> None:
    bad = preset("demo").model_copy(update={"training": {"epochs": 0}, "dataset": {}})
    with pytest.raises(UsageError, match=r"preset demo: epochs=0: .*'bench list settings'"):
        resolve("transformer", "ptb", 41, recipe_name="published", preset=bad, assignments={})


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


def test_none_switches_the_normalisation_off() -> None:
    assert settle(**parse_assignments(("normalisation=none",))).data.normalisation == "none"


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
    assert (demo.seeds, demo.training["epochs"], demo.training["max_train_windows"]) == ((41, 42, 43), 3, 300)
    assert demo.hyperparameters["d_model"] == 32
