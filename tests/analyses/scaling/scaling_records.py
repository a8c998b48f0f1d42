"""A record of how cost grows with the length of the window, made up for tests of reports."""

from bench.analyses.scaling.record import ScalingCurve, ScalingPoint, ScalingRecord
from tests.analyses.efficiency.efficiency_records import make_record

CREATED = "2026-01-01T00:00:00+00:00"


def scaling_record(exponents: dict[str, float]) -> ScalingRecord:
    lengths = (256, 512, 1024, 2048, 4096)
    curves = tuple(
        ScalingCurve(
            model=model,
            revision=1,
            hyperparameters={},
            points=tuple(ScalingPoint(n_times=n, operations=round(1000 * n**exponent)) for n in lengths),
        )
        for model, exponent in exponents.items()
    )
    environment = make_record("medmamba", ()).environment
    return ScalingRecord(
        schema=1,
        key="0" * 64,
        session=CREATED,
        dataset="adftd",
        n_channels=19,
        batch=4,
        limit_s=60.0,
        environment=environment,
        curves=curves,
    )
