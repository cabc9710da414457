"""Figures of people and judges: read by a fixed number of queries, the same as the plain formulas give."""

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.coverage.collect import coverage_table, data_version
from annotation.coverage.sheet import family_verdict, length_verdict, strictness_verdict
from annotation.coverage.systems import JudgeBias, bias_report
from annotation.models import CoverageLabel, Study
from annotation.results.judges import UnknownReference, judge_report, reference_columns
from annotation.results.people import agreement
from annotation.results.sections import people_answer
from annotation.results.table import Filters, LabelTable, PlainLabel, UnknownLabel, plain_table
from benchmarks.models import AuditEvent, Judge, Verdict
from benchmarks.scoring.agreement import cohen_kappa
from benchmarks.scoring.comparison import Bias, compare
from benchmarks.scoring.pairs import Compared
from benchmarks.scoring.ranking import pearson
from benchmarks.scoring.stat import Stat
from benchmarks.scoring.summhay import Coverage
from benchmarks.scoring.summhay import Verdict as Said
from benchmarks.scoring.sums import Resampling
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.conftest import make_user
from tests.makers import NOW
from tests.running import json_of


@pytest.fixture
def study(db: None) -> Study:
    return make_labelled_study(summaries=make_summaries())


@pytest.fixture
def table(study: Study) -> LabelTable:
    return coverage_table(study.coveragelabels.all(), study=study)


def rows_of(study: Study, *, person: str, judge: str) -> list[Compared]:
    """The same pair read row by row."""
    verdicts = {(v.summary_id, v.insight_id): v for v in Verdict.objects.filter(judge__name=judge)}
    found = []
    for label in study.coveragelabels.filter(annotator__label=person).select_related("summary"):
        verdict = verdicts[label.summary_id, label.insight_id]
        found.append(
            Compared(
                Said(Coverage(label.coverage), tuple(label.lines)),
                Said(Coverage(verdict.coverage), tuple(verdict.lines)),
                cluster=label.summary_id,
                n_lines=len(label.summary.lines),
            )
        )
    return found


def test_a_table_has_a_row_for_each_insight_of_each_summary(table: LabelTable) -> None:
    assert table.codes.shape == (36, 5)
    assert [person.name for person in table.people] == ["anna", "bert", "cora"]
    assert [judge.name for judge in table.judges] == ["kind", "strict"]
    assert (table.n_clusters, table.cluster_unit, table.n_invalid) == (12, "summaries", (0, 0))


def test_judges_figures_are_those_of_the_plain_comparison(study: Study, table: LabelTable) -> None:
    expected = compare(rows_of(study, person="bert", judge="kind"))
    row = judge_report(table, reference="bert").rows[0]
    for name in (
        "pearson",
        "exact_agreement",
        "quadratic_kappa",
        "alpha_ordinal",
        "covered.tpr",
        "covered.kappa",
        "linking",
        "linking_authors",
        "linking_strict",
        "linking_chance",
    ):
        stat = expected.stats[name]
        assert row.stats[name].value == pytest.approx(stat.value), name
        assert row.stats[name].n_items == stat.n_items, name
    assert row.confusion == expected.confusion
    assert row.n_insights == 36


def test_without_resampling_the_figures_are_the_same_without_intervals(table: LabelTable) -> None:
    drawn, bare = judge_report(table), judge_report(table, resampling=None)
    for with_intervals, without in zip(drawn.rows, bare.rows, strict=True):
        for name, stat in with_intervals.stats.items():
            assert without.stats[name].value == stat.value, name
            assert without.stats[name].low is None, name


def test_against_the_mean_is_the_mean_over_annotators(table: LabelTable) -> None:
    alone = [judge_report(table, reference=name).rows[1] for name in ("anna", "bert", "cora")]
    together = judge_report(table).rows[1]
    for name in ("pearson", "quadratic_kappa", "linking"):
        values = [row.stats[name].value or 0 for row in alone]
        assert together.stats[name].value == pytest.approx(np.mean(values))
        assert together.stats[name].low is not None
    assert together.hits["linking"] == tuple(map(sum, zip(*(row.hits["linking"] for row in alone), strict=True)))


def test_the_majority_leaves_ties_out_and_counts_them() -> None:
    labels = {"1": "FFN", "2": "FPN", "3": "NNN", "4": "PP", "5": "NF"}
    rows = [PlainLabel(who, item, label) for item, given in labels.items() for who, label in zip("abc", given)]  # noqa: B905
    [column], note, n_ties = reference_columns(plain_table(rows, categories=("N", "P", "F")), "majority")
    assert (column.codes.tolist(), n_ties) == ([2, -1, 0, 1, -1], 2)
    assert "2 ties" in note


def test_an_unknown_reference_names_those_there_are(table: LabelTable) -> None:
    with pytest.raises(UnknownReference, match="mean, majority, adjudicated, anna, bert, cora"):
        judge_report(table, reference="dora")


def test_a_difference_of_judges_is_over_what_both_judged(study: Study, table: LabelTable) -> None:
    [difference] = judge_report(table).differences
    rows = judge_report(table).rows
    expected = (rows[0].stats["pearson"].value or 0) - (rows[1].stats["pearson"].value or 0)
    assert difference.stats["pearson"].value == pytest.approx(expected)
    half = sorted({label.summary_id for label in study.coveragelabels.all()})[:6]
    Verdict.objects.filter(judge__name="strict", summary__in=half).delete()
    fewer = coverage_table(study.coveragelabels.all(), study=study)
    [on_common] = judge_report(fewer).differences
    assert on_common.stats["pearson"].n_items == 18
    common = fewer.only(fewer.codes[:, 4] >= 0)
    alone = [row.stats["pearson"].value or 0 for row in judge_report(common).rows]
    assert on_common.stats["pearson"].value == pytest.approx(alone[0] - alone[1])
    Verdict.objects.exclude(judge__name="strict").exclude(summary__in=half).delete()
    [apart] = judge_report(coverage_table(study.coveragelabels.all(), study=study)).differences
    assert {stat.reason for stat in apart.stats.values()} == {"no labelled item in common"}
    assert not any(stat.is_defined for stat in apart.stats.values())


def test_a_difference_to_people_is_over_what_the_judge_and_two_people_labelled(
    study: Study, table: LabelTable
) -> None:
    report = judge_report(table)
    assert [(one.first, one.second) for one in report.against_people] == [
        (row.name, "people") for row in report.rows
    ]
    for row, found in zip(report.rows, report.against_people, strict=True):
        for name in ("pearson", "exact_agreement", "linking"):
            expected = (row.stats[name].value or 0) - (report.ceiling.stats[name].value or 0)
            assert found.stats[name].value == pytest.approx(expected)
            assert found.stats[name].low is not None
    half = sorted({label.summary_id for label in study.coveragelabels.all()})[:6]
    Verdict.objects.filter(judge__name="strict", summary__in=half).delete()
    fewer = coverage_table(study.coveragelabels.all(), study=study)
    strict = next(one for one in judge_report(fewer).against_people if one.first == "strict")
    common = judge_report(
        fewer.only(fewer.codes[:, fewer.n_people + [row.name for row in report.rows].index("strict")] >= 0)
    )
    alone = next(row for row in common.rows if row.name == "strict")
    expected = (alone.stats["pearson"].value or 0) - (common.ceiling.stats["pearson"].value or 0)
    assert strict.stats["pearson"].value == pytest.approx(expected)
    assert strict.stats["pearson"].n_items == 18


@pytest.mark.parametrize("reference", ["majority", "anna"])
def test_people_differ_from_judges_only_before_the_same_kind_of_reference(
    table: LabelTable, reference: str
) -> None:
    report = judge_report(table, reference=reference)
    assert len(report.against_people) == len(report.rows)
    for row, found in zip(report.rows, report.against_people, strict=True):
        stat = found.stats["exact_agreement"]
        if reference == "anna":
            assert stat.reason == "people are compared with each other, judges with another reference"
        elif row.n_insights == report.n_items and report.ceiling is not None:
            both = row.stats["exact_agreement"].value, report.ceiling.stats["exact_agreement"].value
            assert stat.value == pytest.approx((both[0] or 0) - (both[1] or 0))


def test_people_are_the_ceiling_by_the_same_formulas(table: LabelTable) -> None:
    people = agreement(table)
    ceiling = judge_report(table).ceiling
    assert ceiling.stats["pearson"].value == pytest.approx(people.correlation.value)
    assert ceiling.hits["linking"][1] == people.linking.n_pairs
    pairs = {(pair.a, pair.b): pair for pair in people.pairs}
    ratings = table.ratings()
    keys = {person.name: person.key for person in table.people}
    expected = cohen_kappa(ratings.only((keys["anna"], keys["cora"])))
    assert pairs["anna", "cora"].cohen.value == pytest.approx(expected.value)
    assert set(people.without) == {"anna", "bert", "cora"}
    assert sum(row.share for row in people.categories) == pytest.approx(1)


def labelled(*items: str, links: tuple[str, ...] = ()) -> LabelTable:
    """One text an item: a letter for each annotator's label, in `links` a digit for the line; a dot is none."""
    code = {"N": "none", "P": "partial", "F": "full"}
    rows = []
    for number, item in enumerate(items):
        lines = links[number] if links else "." * len(item)
        for who, mark, line in zip("abc", item, lines, strict=False):
            if mark != ".":
                linked = () if line == "." else (int(line),)
                rows.append(PlainLabel(who, str(number), code[mark], links=linked))
    return plain_table(rows, categories=("none", "partial", "full"))


def test_the_correlation_of_people_is_the_mean_over_their_pairs() -> None:
    items = ("NNN", "PNP", "FFF", "FPN", "NP.", "P.F")
    worth = {"N": 0.0, "P": 0.5, "F": 1.0}
    columns = [[worth.get(mark) for mark in rater] for rater in zip(*items, strict=True)]
    expected = []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        both = [(a, b) for a, b in zip(columns[first], columns[second], strict=True) if None not in (a, b)]
        expected.append(pearson(*zip(*both, strict=True)).value)
    figure = agreement(labelled(*items)).correlation
    assert figure.value == pytest.approx(np.mean(expected))
    assert (figure.n_items, figure.n_pairs) == (5, 3)


def test_a_pair_of_people_without_a_correlation_is_left_out_of_the_mean() -> None:
    figure = agreement(labelled("NNN", "PNP", "FNF", "NNP")).correlation
    assert figure.value == pytest.approx(pearson([0, 0.5, 1, 0], [0, 0.5, 1, 0.5]).value)
    assert agreement(labelled("NN", "PF", "F.", ".N")).correlation.value is None
    assert agreement(labelled("NN", "NN", "NP")).correlation.value is None
    assert agreement(labelled("N.", ".N")).correlation.undefined_reason == "no item was labelled by two"


def test_the_interval_of_the_correlation_of_people_holds_its_value() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 3, 100)
    codes = np.stack([np.where(rng.random(100) < 0.75, truth, rng.integers(0, 3, 100)) for _ in range(3)], axis=1)
    table = replace(labelled(*["NNN"] * 100), codes=codes, clusters=np.arange(100) // 5, n_clusters=20)
    figure = agreement(table, resampling=Resampling(n_resamples=400)).correlation
    assert figure.low < figure.value < figure.high
    assert figure.n_clusters == 20


def test_linking_of_people_pools_their_pairs() -> None:
    items, links = ("FFF", "FN", "FF"), ("112", "3.", "44")
    figure = agreement(labelled(*items, links=links)).linking
    assert figure.value == pytest.approx(2 / 4)
    assert (figure.n_items, figure.n_pairs) == (2, 4)
    alone = agreement(labelled("FN", links=("1.",))).linking
    assert alone.undefined_reason == "no insight is linked by two"
    many = agreement(labelled(*items * 4, links=links * 4)).linking
    assert many.low is not None
    assert many.n_pairs == 16


def test_nobody_is_worth_a_look_on_too_few_items() -> None:
    few, many = (people_answer(agreement(labelled(*["FFN", "NNF", "FFF", "NNN"] * times))) for times in (4, 10))
    assert "‡" in few
    assert "Worth a look" not in few
    assert "Worth a look: c (κ 1.00 without them)" in many


def test_there_is_no_bias_only_where_an_interval_is_narrow() -> None:
    def said(low: float, high: float, n: int = 40) -> str:
        length = Stat((low + high) / 2, n, low=low, high=high)
        bias = Bias({}, length, length, length, length, length)
        row = JudgeBias("o1", bias, {}, n, "gpt", Stat((low + high) / 20, n, low=low / 10, high=high / 10))
        return f"{length_verdict([row])} {family_verdict([row])}"

    assert said(-0.2, 0.3).count("no significant bias") == 2
    assert said(-0.2, 0.6).count("cannot tell yet") == 2
    assert said(-0.2, 0.3, n=20).count("cannot tell yet") == 2
    assert "long bullets favoured (o1, r 0.40" in said(0.2, 0.6)


def test_a_judge_is_called_stricter_or_milder_than_people() -> None:
    def said(*values: float, n: int = 40) -> str:
        rows = []
        for value in values:
            stat = Stat(value, n, low=value - 0.1, high=value + 0.1)
            rows.append(JudgeBias("o1", Bias({}, stat, stat, stat, stat, stat), {}, n, "gpt", stat))
        return strictness_verdict(rows)

    assert said(0.2) == "Strictness: milder than people (o1, by +20.0 points)."
    assert said(-0.05, -0.3).split("; ") == [
        "Strictness: perhaps stricter than people (o1, by −5.0 points)",
        "stricter than people (o1, by −30.0 points).",
    ]
    assert said(-0.2, n=20).startswith("Strictness: perhaps stricter than people (")


def test_one_annotator_has_no_ceiling_and_no_agreement(table: LabelTable) -> None:
    alone = table.with_people([table.people[0].key])
    assert judge_report(alone).ceiling is None
    found = agreement(alone)
    assert found.cards["randolph"].undefined_reason == "no item has two ratings"
    assert (found.pairs, found.linking.value) == ((), None)


def test_bias_is_judge_minus_human_by_summarizer(study: Study, table: LabelTable) -> None:
    Verdict.objects.filter(judge__name="kind").update(coverage="full", lines=[2], is_linked=True)
    found = bias_report(coverage_table(study.coveragelabels.all()))
    row = next(one for one in found.rows if one.judge == "kind")
    worth = {"none": 0.0, "partial": 0.5, "full": 1.0}
    labels = [worth[label.coverage] for label in study.coveragelabels.filter(summary__system__summarizer="alpha")]
    assert row.bias.by_summarizer["alpha"].value == pytest.approx(1 - np.mean(labels))
    assert row.bias.over_insights.n_items == 36
    assert row.bias.length_and_score.undefined_reason == "one side is constant"


def test_the_family_of_a_judge_is_known_by_its_name(ada, as_ada, login) -> None:
    summaries = make_summaries(summarizers=("openai/gpt-4o", "claude-3"))
    study = make_labelled_study(summaries=summaries, judges=("o1", "published"), researcher=ada)
    ours = Verdict.objects.filter(judge__name="o1", summary__system__summarizer="openai/gpt-4o")
    ours.update(coverage="full", lines=[2], is_linked=True)

    def own_families() -> dict[str, Any]:
        return {row["judge"]: row["own_family"] for row in json_of("report", "bias", "--study", study.name)}

    first = own_families()
    assert (first["o1"]["family"], first["o1"]["n"]) == ("gpt", 6)
    assert first["o1"]["difference"] > 0
    assert (first["published"]["difference"], first["published"]["family"]) == (None, "published")
    assert first["published"]["reasons"]["difference"] == "no summary of its family"
    shown = as_ada.get(reverse("annotation:study-figures", args=[study.uid]), {"view": "bias"}).text
    assert "Own family: " in shown

    page, names = reverse("benchmarks:families"), {"o1": "gpt", "openai/gpt-4o": "gpt", "claude-3": "claude"}
    assert f'href="{page}"' in shown
    assert as_ada.post(page, names | {"published": " Claude "}).status_code == 302
    set_by_hand = own_families()["published"]
    assert (set_by_hand["family"], set_by_hand["n"]) == ("claude", 6)
    detail = reverse("benchmarks:judge-detail", args=[Judge.objects.get(name="published").uid])
    assert "claude" in as_ada.get(detail).text
    assert (
        AuditEvent.objects.filter(action="model.family_set").values_list("object_name", flat=True).get()
        == "published"
    )
    login(make_user("bo", "researcher")).post(page, names | {"published": "gpt", "o1": ""})
    assert own_families()["published"]["family"] == "claude"
    as_ada.post(page, names | {"published": ""})
    assert own_families()["published"]["family"] == "published"


def test_filters_choose_items_people_and_guidelines(table: LabelTable) -> None:
    assert len(table.filtered(Filters(summarizer="alpha")).codes) == 18
    assert len(table.filtered(Filters(retriever="vector", haystack="The ferries")).codes) == 36
    assert len(table.filtered(Filters(domain="news")).codes) == 0
    only = table.filtered(Filters(people=(table.people[1].key,)))
    assert [person.name for person in only.people] == ["bert"]
    assert len(table.filtered(Filters(guideline=1)).codes) == 0
    assert len(table.filtered(Filters(guideline=0)).codes) == 36
    assert table.clustered("subtopics").n_clusters == 6


@pytest.mark.every_database
def test_superseded_incomplete_and_cleared_labels_and_invalid_verdicts_count_for_nothing(study: Study) -> None:
    first, second, third = study.coveragelabels.all()[:3]
    CoverageLabel.objects.filter(pk=first.pk).update(is_current=False)
    CoverageLabel.objects.filter(pk=second.pk).update(is_complete=False)
    CoverageLabel.objects.filter(pk=third.pk).update(coverage="", lines=[], is_linked=False, is_complete=False)
    Verdict.objects.filter(pk=Verdict.objects.filter(judge__name="kind")[0].pk).update(
        coverage="", is_valid=False, lines=[], is_linked=False
    )
    table = coverage_table(study.coveragelabels.all())
    assert (table.codes[:, :3] >= 0).sum() == 36 * 3 - 3
    assert table.n_invalid == (1, 0)
    assert judge_report(table).rows[0].n_invalid == 1


def test_only_the_newest_version_of_a_judge_has_the_plain_name(study: Study) -> None:
    newer = Judge.objects.create(name="kind", version=2, kind="lexical", config_sha256="2", created_at=NOW)
    for verdict in Verdict.objects.filter(judge__name="kind", judge__version=1):
        Verdict.objects.create(
            judge=newer,
            summary=verdict.summary,
            insight=verdict.insight,
            coverage="none",
            lines=[],
            is_linked=False,
            created_at=NOW,
        )
    table = coverage_table(study.coveragelabels.all())
    assert [judge.name for judge in table.judges] == ["kind", "kind v1", "strict"]
    assert [judge.cost for judge in table.judges] == [0.0, None, None]


@pytest.mark.every_database
def test_reading_takes_the_same_queries_whatever_the_size(
    study: Study, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(7):
        coverage_table(CoverageLabel.objects.all(), study=study)
    make_labelled_study(
        summaries=make_summaries(n=30, dataset="boats"), people=("anna", "dora"), judges=("third",), name="Two"
    )
    with django_assert_num_queries(7):
        table = coverage_table(CoverageLabel.objects.all(), study=study)
    assert [person.name for person in table.people] == ["anna (1)", "anna (2)", "bert", "cora", "dora"]
    with django_assert_num_queries(1):
        data_version(CoverageLabel.objects.all())


def test_the_data_version_changes_with_a_label_and_with_a_verdict(study: Study) -> None:
    seen = {data_version(CoverageLabel.objects.all())}
    CoverageLabel.objects.filter(pk=study.coveragelabels.all()[0].pk).update(is_current=False)
    seen.add(data_version(CoverageLabel.objects.all()))
    Verdict.objects.filter(judge__name="kind")[0].delete()
    seen.add(data_version(CoverageLabel.objects.all()))
    assert len(seen) == 3


def test_a_label_outside_the_categories_is_refused() -> None:
    with pytest.raises(UnknownLabel, match="1, a: “X” is none of N, P"):
        plain_table([PlainLabel("a", "1", "X")], categories=("N", "P"))


def test_many_people_and_judges_are_worked_out_on_shared_draws() -> None:
    """Not a stopwatch: an order of magnitude over what it takes still passes."""
    n_items, n_people, n_judges = 1400, 4, 7
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, n_items)
    small = plain_table(
        (PlainLabel(f"p{person}", "0", "none") for person in range(n_people)),
        categories=("none", "partial", "full"),
    )
    shape = (n_items, n_people + n_judges)
    codes = np.where(rng.random(shape) < 0.3, rng.integers(0, 3, shape), truth[:, None])
    links = np.where(codes > 0, 4, 0).astype(object)
    clusters = np.arange(n_items) // 7
    table = replace(
        small,
        judges=tuple(
            replace(small.people[0], key=f"j{n}", name=f"j{n}", kind="imported") for n in range(n_judges)
        ),
        codes=codes,
        links=links,
        is_single=codes > 0,
        clusters=clusters,
        n_clusters=int(clusters.max()) + 1,
        items=tuple(map(str, range(n_items))),
        summary_of=np.full(n_items, -1),
        insights=np.full(n_items, -1),
        n_invalid=(0,) * n_judges,
    )
    started = time.monotonic()
    found, judged = agreement(table), judge_report(table)
    assert time.monotonic() - started < 10
    assert (len(found.pairs), len(judged.rows), len(judged.differences)) == (6, 7, 21)
