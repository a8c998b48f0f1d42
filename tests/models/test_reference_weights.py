"""Loading the published code's state dicts: complete, strict, and for every model."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel

import bench.models
from bench.errors import ModelError, UsageError
from bench.models.reference_weights import ReferenceNames, translate, unwrapped
from tests.models.golden import build_from, load_fixture, settings_of

# Each fixture with the registered name it belongs to.
FIXTURES = {
    "autoformer": "autoformer",
    "crossformer": "crossformer",
    "fedformer": "fedformer",
    "informer": "informer",
    "itransformer": "itransformer",
    "medformer_paper": "medformer",
    "medformer_head": "medformer-latest",
    "medmamba_full": "medmamba",
    "medmamba_single_scale": "medmamba-single-scale",
    "medmamba_unidirectional": "medmamba-unidirectional",
    "medmamba_no_channel_mix": "medmamba-no-channel-mixing",
    "mtst": "mtst",
    "nonformer": "nonformer",
    "patchtst": "patchtst",
    "reformer": "reformer",
    "transformer": "transformer",
}
EACH = pytest.mark.parametrize(("fixture", "name"), FIXTURES.items())


def test_every_model_of_the_papers_tables_has_a_fixture() -> None:
    groups = {name: bench.models.entry(name).group for name in bench.models.names()}
    assert set(FIXTURES.values()) == {name for name, group in groups.items() if group in ("paper", "variant")}


def used_tensors(fixture: str) -> list[str]:
    """The published tensors that take part in the forward pass, by the recorded gradients."""
    gradients = load_fixture(fixture).manifest["param_grad_l2"]
    return [name for name, norm in gradients.items() if norm is not None]


@EACH
def test_every_used_tensor_is_needed(fixture: str, name: str) -> None:
    weights = load_fixture(fixture).weights
    model = bench.models.build(name, **settings_of(load_fixture(fixture)))
    accepted = []
    for left_out in used_tensors(fixture):
        try:
            bench.models.load_reference_weights(model, {k: v for k, v in weights.items() if k != left_out})
        except ModelError as error:
            assert f"no tensor '{left_out}'" in str(error)  # noqa: PT017 - the message of each is looked at
        else:
            accepted.append(left_out)
    # FEDformer's state dict repeats one shared pair under every layer, so that any single copy can be missing.
    assert [one for one in accepted if "inner_correlation" not in one] == []


@EACH
def test_every_tensor_of_ours_is_replaced(fixture: str, name: str) -> None:
    published = load_fixture(fixture)
    model = build_from(published, name)
    before = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    bench.models.load_reference_weights(model, {k: v + 1 for k, v in published.weights.items()})
    unchanged = [key for key, tensor in model.state_dict().items() if torch.equal(tensor, before[key])]
    assert set(unchanged) <= {"mode_index"}


@EACH
def test_a_left_over_tensor_is_refused(fixture: str, name: str) -> None:
    published = load_fixture(fixture)
    model = build_from(published, name)
    with pytest.raises(ModelError, match=r"unexpected tensor 'surprise\.weight'"):
        bench.models.load_reference_weights(model, {**published.weights, "surprise.weight": torch.zeros(2)})


def transformer_weights() -> dict[str, Tensor]:
    return load_fixture("transformer").weights


def test_the_missing_tensor_is_named() -> None:
    weights = transformer_weights()
    del weights["encoder.attn_layers.1.attention.key_projection.bias"]
    model = build_from(load_fixture("transformer"))
    with pytest.raises(
        ModelError,
        match=r"no tensor 'encoder\.attn_layers\.1\.attention\.key_projection\.bias' for our "
        r"'encoder\.layers\.1\.attention\.key\.bias' \(16,\); is the checkpoint whole",
    ):
        bench.models.load_reference_weights(model, weights)


def test_a_tensor_of_another_shape_is_refused() -> None:
    weights = {**transformer_weights(), "projection.bias": torch.zeros(5)}
    model = build_from(load_fixture("transformer"))
    with pytest.raises(ModelError, match=r"'head.projection.bias' has shape \(5,\), expected \(3,\)"):
        bench.models.load_reference_weights(model, weights)


def test_a_layer_too_many_is_refused() -> None:
    model = build_from(load_fixture("transformer"))
    deeper = {
        **transformer_weights(),
        "encoder.attn_layers.2.norm1.bias": torch.zeros(16),
    }
    with pytest.raises(ModelError, match=r"'encoder.layers.2.norm1.bias' has no place in this model"):
        bench.models.load_reference_weights(model, deeper)


def test_another_models_checkpoint_is_refused() -> None:
    model = build_from(load_fixture("transformer"))
    with pytest.raises(ModelError, match="is this another model's checkpoint"):
        bench.models.load_reference_weights(model, load_fixture("patchtst").weights)


def test_refused_weights_leave_the_model_as_it_was() -> None:
    model = build_from(load_fixture("transformer"))
    before = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    weights = {key: tensor + 1 for key, tensor in transformer_weights().items()}
    with pytest.raises(ModelError, match="has shape"):
        bench.models.load_reference_weights(model, {**weights, "projection.bias": torch.zeros(5)})
    assert all(torch.equal(tensor, before[key]) for key, tensor in model.state_dict().items())


def test_weights_take_the_models_precision() -> None:
    model = build_from(load_fixture("transformer")).double()
    bench.models.load_reference_weights(model, transformer_weights())
    assert {tensor.dtype for tensor in model.state_dict().values()} == {torch.float64}


def test_shared_copies_that_differ_are_refused() -> None:
    names = ReferenceNames(renames={r"layers\.\d+\.shared": "shared"})
    with pytest.raises(ModelError, match=r"'layers.1.shared' should equal its shared copies"):
        translate({"layers.0.shared": torch.zeros(2), "layers.1.shared": torch.ones(2)}, names)


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(2, 2), nn.BatchNorm1d(2)


def compiled(model: nn.Module) -> nn.Module:
    return cast("nn.Module", torch.compile(model, backend="eager"))


def parallel(model: nn.Module) -> nn.Module:
    return nn.DataParallel(model)


WRAPPINGS = {
    "alone": (),
    "parallel": (parallel,),
    "averaged": (AveragedModel,),
    "compiled": (compiled,),
    "averaged parallel": (parallel, AveragedModel),
    "parallel averaged": (AveragedModel, parallel),
    "averaged twice": (AveragedModel, AveragedModel),
    "compiled averaged parallel": (parallel, AveragedModel, compiled),
    "parallel compiled averaged": (AveragedModel, compiled, parallel),
}


@pytest.mark.parametrize("wrappers", WRAPPINGS.values(), ids=WRAPPINGS.keys())
def test_wrapped_checkpoints_have_the_models_own_names(
    wrappers: tuple[Callable[[nn.Module], nn.Module], ...],
) -> None:
    model = Small()
    expected = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    wrapped: nn.Module = model
    for wrap in wrappers:
        wrapped = wrap(wrapped)
    found = unwrapped(wrapped.state_dict())
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())


def test_compiled_parts_of_a_model_have_its_names() -> None:
    model = Small()
    expected = set(model.state_dict())
    model.first = cast("nn.Linear", compiled(model.first))
    assert any("_orig_mod" in name for name in model.state_dict())
    assert set(unwrapped(model.state_dict())) == expected


def test_names_that_fall_together_are_refused() -> None:
    with pytest.raises(ModelError, match=r"two tensors have one name but for '_orig_mod\.'"):
        unwrapped({"a": torch.zeros(1), "_orig_mod.a": torch.ones(1)})


def test_nothing_but_a_count_is_nothing() -> None:
    assert unwrapped({"n_averaged": torch.tensor(3)}) == {}


@pytest.mark.parametrize("form", [".pth", ".safetensors"])
def test_averaged_checkpoint_of_the_published_scripts_loads(form: str, tmp_path: Path) -> None:
    """The published code saves ``swa_model.state_dict()``: names with ``module.``, and a count beside them."""
    weights = {f"module.{name}": tensor for name, tensor in transformer_weights().items()}
    weights["n_averaged"] = torch.tensor(7)
    path = tmp_path / f"checkpoint{form}"
    torch.save(weights, path) if form == ".pth" else save_file(weights, path)
    model = build_from(load_fixture("transformer"))
    read = torch.load(path, weights_only=True) if form == ".pth" else load_file(path)
    bench.models.load_reference_weights(model, read)
    ours = build_from(load_fixture("transformer"))
    bench.models.load_reference_weights(ours, transformer_weights())
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in ours.state_dict().items())


def test_parts_are_joined_in_their_order() -> None:
    names = ReferenceNames(renames={"up": "both@1", "gate": "both@0"})
    joined = translate({"up": torch.ones(1, 2), "gate": torch.zeros(1, 2)}, names)
    assert joined["both"].tolist() == [[0, 0], [1, 1]]


def test_a_model_without_published_code_is_refused() -> None:
    with pytest.raises(UsageError, match="Linear has no published code"):
        bench.models.load_reference_weights(torch.nn.Linear(2, 2), {})
