"""The options of an efficiency measurement, and the folder of its records; a record is an `EfficiencyRecord`."""

from pydantic import Field

from bench.analyses import contract
from bench.results.efficiency_record import EfficiencyRecord

NAME = "efficiency"
INTERVAL_PERCENT = 5.0


class Options(contract.Options):
    """What ``bench efficiency`` asks for."""

    models: str = Field(default="all", description="Names, a comma list, or all.")
    datasets: str = Field(default="adftd", description="Whose window shapes: names, or all.")
    widths: str = Field(default="script", description="script, wide (the paper's figure), or both.")
    batch: str = Field(default="1,256", description="Windows at once in inference.")
    train_batch: str = Field(default="32", description="Windows in a step of training; or none.")
    preset: str = Field(default="paper", description="Sizes of the models.")
    device: contract.Device = contract.device_field()
    threads: int | None = contract.threads_field()
    time_limit: float = Field(
        default=45.0,
        ge=0,
        description="For the timings of one model, on average.",
        json_schema_extra={"metavar": "SECONDS"},
    )
    interval: float = Field(
        default=INTERVAL_PERCENT,
        ge=0.1,
        description="Done when every median is known this well (plus or minus, 95 percent).",
        json_schema_extra={"metavar": "PERCENT"},
    )
    memory: float | None = contract.memory_field()


ANALYSIS = contract.Analysis(
    name=NAME,
    title="Efficiency",
    summary="Parameters, operations, speed and memory; absolute numbers of different devices never share a column.",
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
