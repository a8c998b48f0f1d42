"""Verdicts on data, configuration, protocol and missing sensors, and what the registry of judges promises."""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.analyses.efficiency.judge import EfficiencyJudge
from bench.analyses.embedding.judge import EmbeddingJudge
from bench.analyses.missing_sensors.judge import MissingSensorsJudge
from bench.analyses.missing_sensors.record import CellRobustness, Draws, GroupRobustness, MissingSensorsRecord
from bench.analyses.scaling.judge import ScalingJudge
from bench.paper.claim_checks import CHECKS
from bench.paper.claims import Claim, text_claims
from bench.paper.scale import Ruling, Verdict
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
    return Claim("x", "here", "text", "", "count", "data", about={"rule": rule, **about})


class TestData:
    @pytest.mark.parametrize(
        ("counts", "verdict"),
        [
            # The made-up parts have twelve subjects each.
            ({"n_subjects": 36, "n_channels": 15}, Verdict.SUPPORTED),
            ({"n_subjects": 198}, Verdict.CONTRADICTED),
        ],
    )
    def test_counts_of_whole_data_are_judged(
        self, ours: list[Record], counts: dict[str, int], verdict: Verdict
    ) -> None:
        asked = data_claim("counts", dataset="ptb", counts=counts)
        assert ruled(DataJudge([suite_of(ours)])(asked)).verdict is verdict

    def test_counts_of_an_excerpt_decide_nothing(self, ours: list[Record]) -> None:
        asked = data_claim("counts", dataset="ptb", counts={"n_subjects": 198})
        ruling = ruled(DataJudge([with_data(ours, kind="excerpt")])(asked))
        assert ruling.verdict is Verdict.UNDECIDED
        assert "excerpt data" in ruling.evidence

    def test_counts_by_which_whole_data_are_known_are_followed_with_exceptions_told(
        self, ours: list[Record]
    ) -> None:
        ruling = ruled(DataJudge([suite_of(ours)])(claim("dataset-counts")))
        assert ruling.verdict is Verdict.FOLLOWED
        assert ruling.evidence.startswith("not everywhere: APAVA: 36 subjects (stated 23)")
        assert "15 channels (stated 15)" in ruling.evidence

    @pytest.mark.parametrize(
        ("shares", "verdict"),
        [
            ({"train": 33, "validation": 33, "test": 33}, Verdict.SUPPORTED),
            ({"train": 55, "validation": 15, "test": 30}, Verdict.CONTRADICTED),
        ],
    )
    def test_shares_are_of_subjects(
        self, ours: list[Record], shares: dict[str, int], verdict: Verdict
    ) -> None:
        asked = data_claim("shares", shares={"ptb": shares})
        assert ruled(DataJudge([suite_of(ours)])(asked)).verdict is verdict

    def test_another_split_decides_nothing_of_the_papers(self, ours: list[Record]) -> None:
        judge = DataJudge([with_data(ours, split_origin="stratified")])
        assert ruled(judge(claim("apava-split"))).verdict is Verdict.UNDECIDED

    def test_data_of_any_recipe_count(self, tmp_path: Path) -> None:
        write_grid(tmp_path, Grid(models=("medmamba",), datasets=("ptb",), recipe="medmamba", n_epochs=1))
        judges = make_judges(tmp_path, make_suites(compare(read_all(tmp_path)[0])))
        assert "cells" not in judges
        assert judges["counts"](claim("dataset-counts")) is not None

    def test_real_data_go_before_an_excerpt_of_another_recipe(self, ours: list[Record]) -> None:
        asked = data_claim("counts", dataset="ptb", counts={"n_subjects": 36})
        suites = [suite_of(ours), with_data(ours, kind="excerpt")]
        for order in (suites, suites[::-1]):
            assert ruled(DataJudge(order)(asked)).verdict is Verdict.SUPPORTED

    @pytest.mark.parametrize("name", ["subjects-disjoint", "per-channel-scaling"])
    def test_what_our_code_sees_to_is_followed_on_all_datasets_or_open(
        self, ours: list[Record], name: str
    ) -> None:
        assert ruled(DataJudge([suite_of(ours)])(claim(name))).verdict is Verdict.FOLLOWED
        some = [record for record in ours if record.cell.dataset != "ptb"]
        assert DataJudge([suite_of(some)])(claim(name)) is None

    def test_unscaled_data_are_told(self, ours: list[Record]) -> None:
        judge = DataJudge([with_data(ours, normalisation="none")])
        ruling = ruled(judge(claim("per-channel-scaling")))
        assert ruling.verdict is Verdict.FOLLOWED
        assert ruling.evidence.startswith("not everywhere: scaled per channel: 0 of 6 datasets")


class TestSetup:
    @pytest.mark.parametrize("name", ["training-protocol", "configuration", "best-checkpoint", "five-seeds"])
    def test_the_papers_settings_are_followed_never_supported(self, ours: list[Record], name: str) -> None:
        ruling = ruled(SetupJudge(suite_of(ours))(claim(name)))
        assert ruling.verdict is Verdict.FOLLOWED
        assert ruling.evidence.endswith("a setting of recipe published, which is the paper's")

    def test_another_value_is_told(self, ours: list[Record]) -> None:
        ruling = ruled(SetupJudge(suite_of(ours, training={"clip_norm": 1.0}))(claim("training-protocol")))
        assert ruling.verdict is Verdict.FOLLOWED
        assert "except clip_norm 1.0 on ADFTD" in ruling.evidence

    def test_batch_normalisation_over_less_than_a_batch_is_told(self, ours: list[Record]) -> None:
        evidence = ruled(SetupJudge(suite_of(ours))(claim("training-batch"))).evidence
        assert "except that batch normalisation on Sleep-EDF is over 8 windows, not 512" in evidence
        assert evidence.count("batch normalisation on ") == 1

    def test_models_that_are_trained_otherwise_are_counted(self, tmp_path: Path) -> None:
        models = ("medmamba", "medformer", "tcn")
        records = write_grid(tmp_path, Grid(models=models, datasets=("ptb",), n_epochs=1))
        ruling = ruled(SetupJudge(suite_of(records))(claim("one-protocol")))
        assert ruling.verdict is Verdict.FOLLOWED
        assert ruling.evidence.startswith("trained alike: 0 of 2 other models as MedMamba on PTB")

    def test_a_dataset_that_was_not_run_leaves_it_open(self, ours: list[Record]) -> None:
        some = [record for record in ours if record.cell.dataset != "ptb"]
        ruling = ruled(SetupJudge(suite_of(some))(claim("training-protocol")))
        assert ruling.verdict is Verdict.UNDECIDED
        assert ruling.evidence.endswith("; not decisive: PTB not run")

    def test_settings_that_a_preset_changed_decide_nothing(self, tmp_path: Path) -> None:
        grid = Grid(models=("medmamba",), datasets=ALL, seeds=SEEDS, preset="quick", n_epochs=1)
        ruling = ruled(SetupJudge(suite_of(write_grid(tmp_path, grid)))(claim("training-protocol")))
        assert ruling.verdict is Verdict.UNDECIDED
        assert "changed epochs=10" in ruling.evidence

    def test_fewer_seeds_decide_nothing(self, ours: list[Record]) -> None:
        some = [record for record in ours if record.cell.seed < 44]
        assert ruled(SetupJudge(suite_of(some))(claim("five-seeds"))).verdict is Verdict.UNDECIDED

    def test_cells_that_test_the_best_epoch_are_counted(self, ours: list[Record]) -> None:
        records = [record.model_copy(update={"best_epoch": 1}) for record in ours]
        ruling = ruled(SetupJudge(suite_of(records))(claim("best-checkpoint")))
        assert "in 0 of 30 cells" in ruling.evidence

    @pytest.mark.parametrize(("reduced", "verdict"), [(990, Verdict.SUPPORTED), (900, Verdict.CONTRADICTED)])
    def test_few_parameters_are_a_share_of_the_full_model(
        self, ours: list[Record], reduced: int, verdict: Verdict
    ) -> None:
        records = []
        for record in ours:
            assert record.parameters is not None
            total = 1000 if record.cell.model == "medmamba" else reduced
            sizes = record.parameters.model_copy(update={"total": total})
            records.append(record.model_copy(update={"parameters": sizes}))
        assert ruled(SetupJudge(suite_of(records))(claim("mixing-few-parameters"))).verdict is verdict


class TestMissingSensors:
    @pytest.mark.parametrize(
        ("with_dropout", "kind", "verdict"),
        [
            (0.6, "whole", Verdict.SUPPORTED),
            (0.4, "whole", Verdict.CONTRADICTED),
            (0.51, "whole", Verdict.UNDECIDED),
            (0.6, "simulated", Verdict.UNDECIDED),
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
                cells=tuple(
                    CellRobustness(
                        seed=seed,
                        key="k",
                        random=(
                            Draws(n_missing=0, f1=(0.5,)),
                            Draws(n_missing=1, f1=(f1 + 0.01 * (seed - 43),)),
                        ),
                        without=(f1,),
                    )
                    for seed in SEEDS
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
        assert (
            f"gains of F1 by dropout, channels missing: {100 * with_dropout - 50:+.2f} [" in ruling.evidence
        )
        alone = record.model_copy(update={"groups": groups[:1]})
        assert MissingSensorsJudge([alone])(claim("channel-dropout-robust")) is None


def test_every_rule_of_a_claim_is_one_of_its_judge_and_takes_its_arguments(ours: list[Record]) -> None:
    suite = suite_of(ours)
    data, setup = DataJudge([suite])._rules, SetupJudge(suite)._rules
    by_about: dict[str, Mapping[str, Callable[..., Any]]] = {
        **dict.fromkeys(("data", "disjoint", "scaling-of-data"), data),
        **dict.fromkeys(("setup", "batches", "protocols", "ablation-sizes"), setup),
        "scaling": ScalingJudge([])._rules,
    }
    by_check = {"cells": CellJudge(suite)._rules, "ablation": AblationJudge(suite)._rules}
    for asked in text_claims():
        if asked.needs in by_about:
            arguments = dict(asked.about)
            inspect.signature(by_about[asked.needs][arguments.pop("rule")]).bind(**arguments)
        if asked.needs in by_check:
            for part in asked.check.get("checks", [asked.check]):
                arguments = dict(part)
                inspect.signature(by_check[asked.needs][arguments.pop("name")]).bind(0.95, **arguments)
        if asked.needs in {"efficiency", "rtx-3090"}:
            assert asked.about["rule"] in EfficiencyJudge([], None)._rules, asked.id
        if asked.needs == "embedding":
            assert asked.about["rule"] in EmbeddingJudge([])._rules, asked.id


def test_every_check_of_a_claim_exists_and_takes_its_arguments() -> None:
    for asked in text_claims():
        if asked.check:
            arguments = dict(asked.check)
            inspect.signature(CHECKS[arguments.pop("name")]).bind(**arguments)


def test_every_claim_that_records_may_decide_has_a_judge(ours: list[Record], tmp_path: Path) -> None:
    judged = make_judges(tmp_path, [suite_of(ours)]).keys()
    undecidable = {"arithmetic", "authors", "criterion", "literature", "files", "split", "proof"}
    assert {asked.needs for asked in text_claims()} - undecidable == judged


@pytest.mark.parametrize("name", ["theory", "channel-mixing", "embedding", "scaling", "missing-sensors"])
def test_a_damaged_analysis_is_named_in_the_evidence(tmp_path: Path, name: str) -> None:
    path = tmp_path / "analyses" / name / "adftd.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    asking = next(one for one in text_claims() if one.needs == name)
    ruling = ruled(make_judges(tmp_path, [])[name](asking))
    assert ruling.verdict is Verdict.UNDECIDED
    assert f"{name}/adftd.json" in ruling.evidence


def test_a_damaged_efficiency_record_is_named_in_the_evidence(tmp_path: Path) -> None:
    path = tmp_path / "efficiency" / "adftd" / "medmamba.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    judges = make_judges(tmp_path, [])
    for name in ("parameters", "speedup-medformer", "throughputs"):
        asking = claim(name)
        assert "medmamba.json" in ruled(judges[asking.needs](asking)).evidence


def test_a_claim_without_a_rule_of_its_need_is_left_open(ours: list[Record]) -> None:
    nameless = dataclasses.replace(claim("apava-margin"), check={})
    assert CellJudge(suite_of(ours))(nameless) is None
