"""A claim's parts, each ruled by the rule of its check."""

from collections.abc import Callable, Mapping

from bench.paper.claims import Claim
from bench.paper.scale import Ruling, Verdict, all_hold
from bench.stats.verdict import part_level
from bench.studies.measured_scores import NotComparableError

Rule = Callable[..., Ruling]
"""Takes the level of its decision and, by keyword, the arguments of the check."""


def ruled_by_check(claim: Claim, rules: Mapping[str, Rule]) -> Ruling | None:
    """Rule on a claim by the rule of its check, or on all its parts; None if there is no such rule."""
    checks = claim.check.get("checks", [claim.check])
    if not {check.get("name") for check in checks} <= rules.keys():
        return None
    level = part_level(len(checks))
    try:
        return all_hold([_ruled(dict(check), rules, level) for check in checks])
    except NotComparableError as error:
        return Ruling(Verdict.UNDECIDED, f"no score to compare: {error}")


def _ruled(arguments: dict[str, object], rules: Mapping[str, Rule], level: float) -> Ruling:
    rule = rules[str(arguments.pop("name"))]
    return rule(level, **arguments)
