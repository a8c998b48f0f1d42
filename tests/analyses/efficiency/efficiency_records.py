"""Efficiency records made up for tests of reports."""

from bench.results.efficiency_record import EfficiencyRecord, Mode, Operations, TaskShape, TimedWorkload
from bench.results.record import Environment, Parameters

ADFTD = TaskShape(dataset="adftd", n_times=256, n_channels=19, n_classes=3)

# Windows per second and parameters, as a GPU might have them.
MODELS = {
    "autoformer": (650, 895_363),
    "crossformer": (1450, 2_221_443),
    "fedformer": (1500, 828_291),
    "informer": (1550, 900_739),
    "itransformer": (9000, 835_331),
    "mtst": (900, 2_731_139),
    "nonformer": (1350, 978_179),
    "patchtst": (660, 1_030_659),
    "reformer": (1100, 800_131),
    "transformer": (1520, 900_739),
    "medformer": (700, 8_123_139),
    "medmamba": (3200, 5_719_881),
}


def make_condition(
    rate: float, *, mode: Mode = "inference", batch: int = 256, n_rounds: int = 7, asked: int | None = None
) -> TimedWorkload:
    """Return a workload with rounds of one run each, a percent apart."""
    seconds = [batch / rate * (1 + 0.01 * (number % 3 - 1)) for number in range(n_rounds)]
    return TimedWorkload(
        mode=mode,
        batch_asked=asked or batch,
        batch=batch,
        rounds=tuple((one,) for one in seconds),
        stop="narrow enough",
        memory_bytes=100 * 2**20,
    )


def make_record(
    model: str,
    conditions: tuple[TimedWorkload, ...],
    *,
    session: str = "2026-01-01T00:00:00+00:00",
    device: str = "cpu",
    n_parameters: int = 1_000_000,
    warnings: tuple[str, ...] = (),
) -> EfficiencyRecord:
    """Return a record of one model on one made-up device."""
    return EfficiencyRecord(
        schema=1,
        key="0" * 64,
        session=session,
        model=model,
        width="script",
        preset="paper",
        task=ADFTD,
        hyperparameters={"d_model": 128},
        revision=1,
        environment=Environment(
            device=device,
            device_name=f"made-up {device}",
            threads=2,
            precision="float32",
            deterministic=True,
            scan_backend=None,
            platform="made up",
            versions={"torch": "2.13.0"},
        ),
        parameters=Parameters(forward=n_parameters, total=n_parameters + 512),
        operations=Operations(products=600_000_000, transforms=0, scans=0),
        load_s=0.05,
        conditions=conditions,
        half_width_asked=0.05,
        limit_s=40.0,
        warnings=warnings,
    )


def make_session(*, device: str = "cpu", factor: float = 1.0) -> list[EfficiencyRecord]:
    """Return one record of every model of the paper, taken in turns."""
    return [
        make_record(
            model,
            (make_condition(rate * factor), make_condition(rate * factor / 4, mode="training", batch=32)),
            device=device,
            n_parameters=n_parameters,
        )
        for model, (rate, n_parameters) in MODELS.items()
    ]
