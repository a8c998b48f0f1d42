"""A claim's parts, each ruled by the rule of its check."""

from collections.abc import Callable, Mapping
from typing import Any

from bench.paper.claims import Claim
from bench.paper.scale import Ruling, Verdict
from bench.studies.interval_rulings import parts_ruling
from bench.studies.measured_scores import NotComparableError

Rule = Callable[..., Ruling]
"""Takes the level of its decision and, by keyword, the arguments of the check."""


def ruled_by_check(claim: Claim, rules: Mapping[str, Rule]) -> Ruling | None:
    """Rule on a claim by the rule of its check, or on all its parts; None if there is no such rule."""
    checks = claim.check.get("checks", [claim.check])
    if not {check.get("name") for check in checks} <= rules.keys():
        return None
    try:
        return parts_ruling([_part(check, rules) for check in checks])
    except NotComparableError as error:
        return Ruling(Verdict.UNDECIDED, f"no score to compare: {error}")


def _part(check: Mapping[str, Any], rules: Mapping[str, Rule]) -> Callable[[float], Ruling]:
    arguments = dict(check)
    rule = rules[arguments.pop("name")]
    return lambda level: rule(level, **arguments)
