"""The base of records and their parts."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """Immutable, and unknown fields are errors; infinities and NaN are written as null."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null")
