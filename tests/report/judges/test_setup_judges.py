"""Verdicts on data, configuration, protocol and missing sensors, and what the registry of judges promises."""

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench.analyses.efficiency.judge import EfficiencyJudge
from bench.analyses.embedding.judge import EmbeddingJudge
from bench.analyses.missing_sensors.judge import MissingSensorsJudge
from bench.analyses.missing_sensors.record import CellRobustness, Draws, GroupRobustness, MissingSensorsRecord
from bench.analyses.scaling.judge import ScalingJudge
from bench.paper.claim_checks import CHECKS, Verdict
from bench.paper.claims import Claim, Ruling, cell_claims, text_claims
from bench.report.judges import make_judges
from bench.report.judges.ablation_claims import AblationJudge
from bench.report.judges.data_claims import DataJudge
from bench.report.judges.score_claims import CellJudge
from bench.report.judges.setup_claims import SetupJudge
from bench.results.record import Record
from bench.results.store import read_all
from bench.studies.aggregate import compare
from bench.studies.suite import Suite, make_suites
from tests.analyses.analysed_cells import analysed
from tests.report.grids import ABLATIONS, Grid, write_grid
from tests.report.ledger import claim

SEEDS = (41, 42, 43, 44, 45)
ALL = ("adftd", "apava", "ptb", "ptb-xl", "sleep-edf", "uci-har")


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """MedMamba on all datasets and the paper's seeds, and a reduced one on ADFTD."""
    out = tmp_path_factory.mktemp("ours")
    of_all = write_grid(out, Grid(models=("medmamba",), datasets=ALL, seeds=SEEDS, n_epochs=2))
    return of_all + write_grid(out, Grid(models=ABLATIONS[:1], datasets=("adftd",), seeds=SEEDS, n_epochs=2))


def suite_of(records: list[Record], **settings: Any) -> Suite:
    """Return the records' suite; `settings` replaces values in the named parts of every record's settings."""
    changed = [
        one.model_copy(
            update={
                "settings": {
                    part: {**values, **settings[part]} if part in settings else values
                    for part, values in one.settings.items()
                }
            }
        )
        for one in records
    ]
    return make_suites(compare(changed))[0]


def ruled(ruling: Ruling | None) -> Ruling:
    assert ruling is not None
    return ruling


def with_data(records: list[Record], **changes: Any) -> Suite:
    """Return the records' suite with other facts of the data."""
    return make_suites(
        compare([one.model_copy(update={"data": one.data.model_copy(update=changes)}) for one in records])
    )[0]


def data_claim(rule: str, **about: Any) -> Claim:
    return Claim("x", "here", "text", "", "count", "data", about={"rule": rule, "dataset": "ptb", **about})


class TestData:
    @pytest.mark.parametrize(
        ("counts", "verdict"),
        [
            ({"n_classes": 2}, Verdict.REPRODUCED),
            ({"n_channels": 15, "n_times": 300}, Verdict.REPRODUCED),
            ({"n_channels": 12}, Verdict.CONTRADICTED),
            # The made-up parts have twelve subjects each.
            ({"n_subjects": 36}, Verdict.REPRODUCED),
            ({"n_subjects": 198}, Verdict.CONTRADICTED),
        ],
    )
    def test_counts_of_whole_data_are_judged(
        self, ours: list[Record], counts: dict[str, int], verdict: Verdict
    ) -> None:
        assert ruled(DataJudge([suite_of(ours)])(data_claim("counts", counts=counts))).verdict is verdict

    def test_that_whole_data_can_only_agree_in_windows_is_said(self, ours: list[Record]) -> None:
        judge = DataJudge([suite_of(ours)])
        said = ruled(judge(data_claim("counts", counts={"n_subjects": 36}))).evidence
        assert "agrees by construction" in said
        assert "by construction" not in ruled(judge(data_claim("counts", counts={"n_classes": 2}))).evidence

    def test_counts_of_an_excerpt_decide_nothing(self, ours: list[Record]) -> None:
        ruling = ruled(DataJudge([with_data(ours, kind="excerpt")])(claim("dataset_summary/ptb/n_subjects")))
        assert ruling.verdict is Verdict.NEEDS_RECORDS
        assert "excerpt data" in ruling.evidence

    def test_summaries_are_judged_by_all_their_counts(self, ours: list[Record]) -> None:
        ruling = ruled(DataJudge([suite_of(ours)])(claim("ptb-summary")))
        assert ruling.verdict is Verdict.CONTRADICTED
        assert "15 channels (stated 15)" in ruling.evidence

    @pytest.mark.parametrize(
        ("shares", "verdict"),
        [
            ({"train": 33, "validation": 33, "test": 33}, Verdict.REPRODUCED),
            ({"train": 67, "test": 33}, Verdict.REPRODUCED),
            ({"train": 55, "validation": 15, "test": 30}, Verdict.CONTRADICTED),
        ],
    )
    def test_shares_are_of_subjects(
        self, ours: list[Record], shares: dict[str, int], verdict: Verdict
    ) -> None:
        assert ruled(DataJudge([suite_of(ours)])(data_claim("shares", shares=shares))).verdict is verdict

    def test_another_split_decides_nothing_of_the_papers(self, ours: list[Record]) -> None:
        judge = DataJudge([with_data(ours, split_origin="stratified")])
        assert ruled(judge(claim("apava-split"))).verdict is Verdict.NEEDS_RECORDS

    def test_data_of_any_recipe_count(self, tmp_path: Path) -> None:
        write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), recipe="medmamba", n_epochs=1))
        judges = make_judges(tmp_path, make_suites(compare(read_all(tmp_path)[0])))
        assert "cells" not in judges
        assert judges["data"](claim("dataset_summary/ptb/n_classes")) is not None

    @pytest.mark.parametrize("name", ["subjects-disjoint", "per-channel-scaling"])
    def test_what_is_said_of_all_datasets_needs_all(self, ours: list[Record], name: str) -> None:
        assert ruled(DataJudge([suite_of(ours)])(claim(name))).verdict is Verdict.REPRODUCED
        some = [one for one in ours if one.cell.dataset != "ptb"]
        assert DataJudge([suite_of(some)])(claim(name)) is None

    def test_unscaled_data_contradict_that_all_are_scaled(self, ours: list[Record]) -> None:
        judge = DataJudge([with_data(ours, normalisation="none")])
        assert ruled(judge(claim("per-channel-scaling"))).verdict is Verdict.CONTRADICTED


class TestSetup:
    @pytest.mark.parametrize(
        "name",
        [
            "model_config_all/ptb/channel_dropout",
            "model_config_all/adftd/strides",
            "state-dimension",
            "training-epochs",
            "training-batch",
            "training-batch-apava",
            "training-optimizer",
            "training-schedule",
            "training-clipping",
            "training-smoothing",
            "five-seeds",
        ],
    )
    def test_the_papers_recipe_is_the_papers(self, ours: list[Record], name: str) -> None:
        assert ruled(SetupJudge(suite_of(ours))(claim(name))).verdict is Verdict.REPRODUCED

    def test_another_value_is_contradicted_and_named(self, ours: list[Record]) -> None:
        judge = SetupJudge(suite_of(ours, training={"clip_norm": 1.0}))
        ruling = ruled(judge(claim("training-clipping")))
        assert ruling.verdict is Verdict.CONTRADICTED
        assert "clip_norm 1.0 on ADFTD" in ruling.evidence

    def test_a_dataset_that_was_not_run_leaves_it_open(self, ours: list[Record]) -> None:
        ruling = ruled(
            SetupJudge(suite_of([one for one in ours if one.cell.dataset != "ptb"]))(claim("training-epochs"))
        )
        assert ruling.verdict is Verdict.NEEDS_RECORDS
        assert ruling.evidence.endswith("which decides nothing: PTB not run")

    def test_settings_that_a_preset_changed_decide_nothing(self, tmp_path: Path) -> None:
        grid = Grid(models=("medmamba",), datasets=ALL, seeds=SEEDS, preset="quick", n_epochs=1)
        ruling = ruled(SetupJudge(suite_of(write_grid(tmp_path, grid)))(claim("training-epochs")))
        assert ruling.verdict is Verdict.NEEDS_RECORDS
        assert "changed epochs=10" in ruling.evidence

    def test_fewer_seeds_contradict_nothing(self, ours: list[Record]) -> None:
        some = [one for one in ours if one.cell.seed < 44]
        assert ruled(SetupJudge(suite_of(some))(claim("five-seeds"))).verdict is Verdict.NEEDS_RECORDS

    @pytest.mark.parametrize(("best", "verdict"), [(2, Verdict.REPRODUCED), (1, Verdict.CONTRADICTED)])
    def test_the_tested_epoch_is_the_best_on_validation(
        self, ours: list[Record], best: int, verdict: Verdict
    ) -> None:
        records = [one.model_copy(update={"best_epoch": best}) for one in ours]
        assert ruled(SetupJudge(suite_of(records))(claim("best-checkpoint"))).verdict is verdict

    @pytest.mark.parametrize(("reduced", "verdict"), [(990, Verdict.REPRODUCED), (900, Verdict.CONTRADICTED)])
    def test_few_parameters_are_a_share_of_the_full_model(
        self, ours: list[Record], reduced: int, verdict: Verdict
    ) -> None:
        records = []
        for one in ours:
            assert one.parameters is not None
            total = 1000 if one.cell.model == "medmamba" else reduced
            sizes = one.parameters.model_copy(update={"total": total})
            records.append(one.model_copy(update={"parameters": sizes}))
        assert ruled(SetupJudge(suite_of(records))(claim("mixing-few-parameters"))).verdict is verdict


class TestMissingSensors:
    @pytest.mark.parametrize(
        ("with_dropout", "kind", "verdict"),
        [
            (0.6, "whole", Verdict.REPRODUCED),
            (0.4, "whole", Verdict.CONTRADICTED),
            (0.6, "simulated", Verdict.NEEDS_RECORDS),
        ],
    )
    def test_dropout_has_to_help_when_channels_are_missing(
        self, tmp_path: Path, with_dropout: float, kind: str, verdict: Verdict
    ) -> None:
        about = analysed(tmp_path, "ptb").model_copy(update={"seeds": SEEDS})
        about = about.model_copy(update={"data": about.data.model_copy(update={"kind": kind})})
        groups = tuple(
            GroupRobustness(
                about=about,
                hyperparameters={"channel_dropout": rate},
                cells=(
                    CellRobustness(
                        seed=41,
                        key="k",
                        random=(Draws(n_missing=0, f1=(0.5,)), Draws(n_missing=1, f1=(f1,))),
                        without=(f1,),
                    ),
                ),
            )
            for rate, f1 in ((0.3, with_dropout), (0, 0.5))
        )
        record = MissingSensorsRecord(
            created="2026-01-01T00:00:00+00:00",
            dataset="ptb",
            channel_names=("i",),
            n_subjects=1,
            n_windows=1,
            n_windows_of_part=1,
            windows_per_class=(1, 1),
            draw_seed=41,
            n_draws=1,
            missing_channels={0: ((),), 1: (("i",),)},
            groups=groups,
        )
        ruling = ruled(MissingSensorsJudge([record])(claim("channel-dropout-robust")))
        assert ruling.verdict is verdict
        assert f"{100 * with_dropout - 50:+.1f} without 1" in ruling.evidence
        alone = record.model_copy(update={"groups": groups[:1]})
        assert MissingSensorsJudge([alone])(claim("channel-dropout-robust")) is None


def _is_score(one: Claim) -> bool:
    return "metric" in one.about and "mean" in one.about


def test_every_rule_of_a_claim_is_one_of_its_judge_and_takes_its_arguments(ours: list[Record]) -> None:
    suite = suite_of(ours)
    by_about: dict[str, dict[str, Callable[..., Any]]] = {
        "data": DataJudge([suite])._rules,
        "setup": SetupJudge(suite)._rules,
        "scaling": ScalingJudge([])._rules,
    }
    by_check = {"cells": CellJudge(suite)._rules, "ablation": AblationJudge(suite)._rules}
    for one in (*text_claims(), *cell_claims()):
        if one.needs in by_about and one.about:
            arguments = dict(one.about)
            inspect.signature(by_about[one.needs][arguments.pop("rule")]).bind(**arguments)
        if one.needs in by_check and not _is_score(one):
            arguments = dict(one.check)
            inspect.signature(by_check[one.needs][arguments.pop("name")]).bind(**arguments)
        if one.needs in {"efficiency", "rtx-3090"} and one.about:
            assert one.about["rule"] in EfficiencyJudge([], None)._rules, one.id
        if one.needs == "embedding":
            assert one.about["rule"] in EmbeddingJudge([])._rules, one.id


def test_every_check_of_a_claim_exists_and_takes_its_arguments() -> None:
    for one in (*text_claims(), *cell_claims()):
        if one.check:
            arguments = dict(one.check)
            inspect.signature(CHECKS[arguments.pop("name")]).bind(**arguments)


def test_every_claim_that_records_may_decide_has_a_judge(ours: list[Record], tmp_path: Path) -> None:
    judged = make_judges(tmp_path, [suite_of(ours)]).keys()
    undecidable = {"arithmetic", "authors", "criterion", "literature", "files", "code", "power", "proof"}
    assert {one.needs for one in (*text_claims(), *cell_claims())} - undecidable == judged


@pytest.mark.parametrize("name", ["theory", "channel-mixing", "embedding", "scaling", "missing-sensors"])
def test_a_damaged_analysis_is_named_in_the_evidence(tmp_path: Path, name: str) -> None:
    path = tmp_path / "analyses" / name / "adftd.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    asking = next(one for one in text_claims() if one.needs == name)
    ruling = ruled(make_judges(tmp_path, [])[name](asking))
    assert ruling.verdict is Verdict.NEEDS_RECORDS
    assert f"{name}/adftd.json" in ruling.evidence


def test_a_damaged_efficiency_record_is_named_in_the_evidence(tmp_path: Path) -> None:
    path = tmp_path / "efficiency" / "adftd" / "medmamba.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    judges = make_judges(tmp_path, [])
    for name in ("medmamba-parameters", "speedup-medformer", "medmamba-throughput"):
        asking = claim(name)
        assert "medmamba.json" in ruled(judges[asking.needs](asking)).evidence


def test_a_claim_without_a_rule_of_its_need_is_left_open(ours: list[Record]) -> None:
    nameless = dataclasses.replace(claim("apava-margin"), check={})
    assert CellJudge(suite_of(ours))(nameless) is None
