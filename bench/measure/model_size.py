"""Parameters of a model at a dataset's shape with its published hyperparameters, without training it."""

from bench import datasets, models
from bench.measure.parameters import count_parameters
from bench.results.record import Parameters
from bench.settings import preset, resolve


def parameters_for(model: str, dataset: str) -> Parameters:
    """Build the model as ``bench run --preset paper`` would and count its parameters.

    Raises
    ------
    UsageError
        A name is unknown.
    """
    facts = datasets.facts(dataset)
    settings = resolve(model, dataset, 41, recipe_name="published", preset=preset("paper"), assignments={})
    built = models.build(model, facts.n_channels, facts.n_times, facts.n_classes, **settings.hyperparameters)
    return count_parameters(built, facts.n_times, facts.n_channels)
