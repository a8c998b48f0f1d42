"""The first sentences of the page: who wins, by how much, how sure, what failed, and what became of the claims."""

from collections import Counter
from collections.abc import Mapping, Sequence

from bench.paper.claims import Entry, tally
from bench.paper.names import OURS, short_name
from bench.render.table import Footnotes
from bench.report.tables.standing import Standing, standing
from bench.results.record import Record
from bench.stats.draws import LEVEL
from bench.studies.caption import plural
from bench.studies.model_blocks import together
from bench.studies.predicted import Predicted
from bench.studies.suite import Suite

_LONGEST_REASON = 120


def who_wins(suite: Suite, tested: Mapping[str, Predicted]) -> str:
    """Say which model is best on each dataset of a suite, by how much and how sure that is.

    ``tested`` holds the predictions by dataset.
    """
    standings = [standing(study, tested.get(study.dataset), Footnotes()) for study in suite.studies]
    return _on_one_dataset(standings[0]) if len(standings) == 1 else _on_several(standings)


def _on_one_dataset(found: Standing) -> str:
    study = found.study
    where = f"On {study.label}"
    if not found.order:
        return f"{where} no model has scores of every seed."
    if not study.has_one_protocol:
        scores = ", ".join(f"{model} {100 * found.f1[model]:.1f}" for model in found.order)
        return (
            f"{where} the models were trained by different protocols, so none is named best; macro F1 in percent: "
            f"{scores}."
        )
    best = found.order[0]
    models = plural(len(found.order), "model")
    leads = f"{where} the best of {models} is {best} with {100 * found.f1[best]:.1f} % macro F1"
    return (
        f"{leads}; {_lead(found)}. How sure: {found.certainty}. {together(found.order, 'Compared')}".rstrip()
    )


def _lead(found: Standing) -> str:
    """Say how far the leading model is from its best rival, with the interval if there is one."""
    lead = found.lead
    if lead.mean is None:
        return "there is no rival to compare it with"
    verb = "leads" if lead.mean >= 0 else "trails"
    text = f"{found.leader} {verb} {found.rival} by {abs(lead.mean):.1f} points"
    if lead.low is None or lead.high is None:
        return f"{text}, without an interval"
    return f"{text} ({LEVEL:.0%} interval of the difference {lead.low:.1f} to {lead.high:.1f})"


def _on_several(standings: Sequence[Standing]) -> str:
    known = [found for found in standings if found.order]
    if not known:
        return f"No model has scores of every seed on any of {plural(len(standings), 'dataset')}."
    highest = ", ".join(
        f"{short_name(found.study.dataset)} {found.order[0]} {100 * found.f1[found.order[0]]:.1f}"
        for found in known
    )
    if not all(found.study.has_one_protocol for found in known):
        return (
            "Models were trained by different protocols, so none is named best. Highest macro F1 in percent: "
            f"{highest}."
        )
    n_wins = sum(found.order[0] == OURS for found in known)
    ours = f"MedMamba has the highest macro F1 on {n_wins} of {plural(len(known), 'dataset')}. "
    counts = Counter(found.certainty for found in known)
    sure = ", ".join(f"{certainty} on {number}" for certainty, number in counts.items())
    is_run = any(OURS in found.f1 for found in known)
    everyone = dict.fromkeys(model for found in known for model in found.order)
    compared = together(everyone, "Compared")
    return f"{ours if is_run else ''}Best in percent: {highest}. {compared}{_leads(known)}How sure: {sure}."


def _leads(known: Sequence[Standing]) -> str:
    """List by how much each leader leads, where it can be compared."""
    each = [
        f"{short_name(found.study.dataset)} {found.lead.mean:+.1f}"
        for found in known
        if found.lead.mean is not None and found.leader == OURS
    ]
    return f"MedMamba's lead over its best rival in points: {', '.join(each)}. " if each else ""


def what_failed(records: Sequence[Record]) -> str:
    """Say how many cells failed, and why the first did."""
    failed = [record for record in records if not record.is_done]
    if not failed:
        return f"None of {plural(len(records), 'cell')} failed."
    counts = Counter(record.outcome for record in failed)
    kinds = ", ".join(f"{number} {outcome}" for outcome, number in sorted(counts.items()))
    first = failed[0]
    text = f"{len(failed)} of {plural(len(records), 'cell')} failed ({kinds})"
    if first.error is None:
        return f"{text}."
    reason = first.error.message.strip().splitlines()[0][:_LONGEST_REASON] if first.error.message else ""
    name = f"{first.cell.model} on {short_name(first.cell.dataset)}, seed {first.cell.seed}"
    return f"{text}; {'the first, ' if len(failed) > 1 else ''}{name}: {first.error.kind}: {reason}."


def verdicts(claims: Sequence[Entry]) -> str:
    """Count the verdicts on the paper's claims."""
    counts = [f"{number} {verdict.value}" for verdict, number in tally(claims).items() if number]
    return f"Claims of the paper: {', '.join(counts)}."
