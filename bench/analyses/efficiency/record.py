"""The options of an efficiency measurement, and the folder of its records; a record is an `EfficiencyRecord`."""

from pydantic import Field

from bench.analyses import contract
from bench.results.efficiency_record import EfficiencyRecord

NAME = "efficiency"
INTERVAL_PERCENT = 5.0


class Options(contract.Options):
    """What ``bench efficiency`` asks for."""

    models: str = Field(default="all", description="A comma list of names, or all.")
    datasets: str = Field(
        default="adftd", description="Datasets whose window shapes are used: a comma list of names, or all."
    )
    widths: str = Field(
        default="script", description="Sizes of models: script, wide (the paper's figure), or both."
    )
    batch: str = Field(default="1,256", description="Batch sizes in inference.")
    train_batch: str = Field(default="32", description="Batch sizes in training, or none.")
    preset: str = Field(default="paper", description="Preset whose model sizes are used.")
    device: contract.Device = contract.device_field()
    threads: int | None = contract.threads_field()
    time_limit: float = Field(
        default=45.0,
        ge=0,
        description="Time for the timings of one model, on average.",
        json_schema_extra={"metavar": "SECONDS"},
    )
    interval: float = Field(
        default=INTERVAL_PERCENT,
        ge=0.1,
        description="A model is done when every median is known to plus or minus this (95 percent interval).",
        json_schema_extra={"metavar": "PERCENT"},
    )
    memory: float | None = contract.memory_field()


ANALYSIS = contract.Analysis(
    name=NAME,
    title="Efficiency",
    summary="Measure parameters, operations, speed and memory; numbers of different devices never share a column.",
    examples=(
        "bench efficiency",
        "bench efficiency --models medmamba,medformer --widths script,wide --batch 1,32,256",
        "bench efficiency --device cuda --datasets adftd,sleep-edf",
        "bench efficiency --models medmamba,./my_model.py:MyNet",
    ),
    options=Options,
    record=EfficiencyRecord,
    package="bench.analyses.efficiency",
    folder="efficiency",
)
