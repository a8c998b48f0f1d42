"""``bench check-model``: Run the conformance battery on a model of your own."""

import click


@click.command("check-model")
@click.argument("spec", metavar="FILE.py:ClassName")
def command(spec: str) -> None:
    """Run the conformance battery on a model of your own, and say what fails.

    \b
    bench check-model ./my_model.py:MyNet
    """
    from bench import plugins
    from bench.first_look import first_look
    from bench.models import battery, registry

    name = registry.register_file(spec)
    path, class_name = plugins.split_spec(spec)
    problem = first_look(path)
    if problem is not None:
        click.echo(f"FAIL  import\n      {problem}\n{name}: no other check was made")
        raise SystemExit(1)
    model = getattr(plugins.load(path), class_name)
    outcomes = list(battery.run_battery(model, battery.exceptions_of(model)))
    for outcome in outcomes:
        click.echo(f"{'ok  ' if outcome.problem is None else 'FAIL'}  {outcome.check.removeprefix('check_')}")
        if outcome.problem is not None:
            click.echo(f"      {outcome.problem}")
    n_failed = sum(outcome.problem is not None for outcome in outcomes)
    click.echo(f"{name}: {len(outcomes) - n_failed} of {len(outcomes)} checks passed")
    raise SystemExit(1 if n_failed else 0)
