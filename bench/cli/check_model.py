"""``bench check-model``: Check that a model of your own keeps the contract of models."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bench.models.promises import Outcome


@click.command("check-model")
@click.argument("spec", metavar="FILE.py:Name")
def command(spec: str) -> None:
    """Check a model of your own, a network or an estimator, with the battery of checks that every model here passes.

    \b
    A network is a torch.nn.Module:
      __init__(self, *, n_channels, n_times, n_classes, width=8)
                     three sizes, then hyperparameters with defaults, all keyword-only
      forward(x)     x: (batch, n_times, n_channels) float32; returns logits (batch, n_classes)
      features(x)    returns (batch, width), the input of the last linear layer
      In evaluation the logits of a window do not depend on other windows of the batch,
      and equal seeds give equal weights and equal logits.
    An estimator has scikit-learn's fit(X, y) and predict_proba(X) or decision_function(X).
      X: (n_windows, n_channels, n_times) float32; one flat row per window if the estimator has
      window_layout = "flat", as for scikit-learn's own.

    \b
    bench check-model ./my_model.py:MyNet
    bench check-model ./my_model.py:MyEstimator
    bench check-model sklearn.ensemble:HistGradientBoostingClassifier
    """
    from bench import plugins
    from bench.estimators import registry
    from bench.first_look import first_look

    if plugins.is_file(spec):
        problem = first_look(plugins.split_spec(spec)[0])
        if problem is not None:
            click.echo(f"FAIL  import\n      {problem}\n{spec}: no other check was made")
            raise SystemExit(1)
    name = registry.register_own(spec) if registry.is_own(spec) else spec
    outcomes = list(_outcomes(name))
    for outcome in outcomes:
        click.echo(f"{'ok  ' if outcome.problem is None else 'FAIL'}  {outcome.check.removeprefix('check_')}")
        if outcome.problem is not None:
            click.echo(f"      {outcome.problem}")
    n_failed = sum(outcome.problem is not None for outcome in outcomes)
    click.echo(f"{name}: {len(outcomes) - n_failed} of {len(outcomes)} checks passed")
    raise SystemExit(1 if n_failed else 0)


def _outcomes(name: str) -> "Iterator[Outcome]":
    from bench.models import registry
    from bench.models.promises import exceptions_of

    entry = registry.entry(name)
    if registry.is_estimator(name):
        from bench.estimators import battery as estimators
        from bench.estimators.registry import factory

        make = factory(name)
        return estimators.run_battery(make, exceptions_of(make))
    from bench.models import battery

    model = registry.maker_of(entry)
    return battery.run_battery(model, exceptions_of(model))
