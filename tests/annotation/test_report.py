"""`manage.py report`: the worked examples, the authors' own figures, and a sentence where there is nothing."""

import io
import json
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from statistics import fmean

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation import agreement, leaderboard
from annotation.kinds import kinds
from annotation.management.commands.report import REPORTS
from annotation.models import Annotator, CoverageLabel, Study
from annotation.results.reports import Report
from benchmarks.engine import judging, versions
from benchmarks.models import Summary, Verdict
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.conftest import make_user
from tests.running import json_of, output_of

pytestmark = pytest.mark.django_db

FIRST = ("FFF", "FPF", "NNN", "NPF", "PPN")
FIGURES = ("percent", "randolph", "fleiss", "ac1", "alpha_nominal")


def report(*args):
    return json_of("report", *args)


def text(*args) -> str:
    return output_of("report", *args)


def give_accounts(study: Study) -> None:
    """Let everyone who labelled have an account, as those who labelled here."""
    for annotator in Annotator.objects.filter(memberships__study=study):
        annotator.user = make_user(annotator.label, None)
        annotator.save()


def write(folder: Path, *items: str, name: str = "labels.csv") -> Path:
    """A file with one item per text and one annotator per letter; a dot is no rating."""
    rows = ["annotator,item,label"]
    rows += [
        f"rater{place},{number},{'' if mark == '.' else mark}"
        for number, item in enumerate(items, 1)
        for place, mark in enumerate(item, 1)
    ]
    path = folder / name
    path.write_text("\n".join(rows))
    return path


def test_the_worked_example_holds_through_the_command(tmp_path: Path) -> None:
    found = report("agreement", "--labels", write(tmp_path, *FIRST), "--categories", "N,P,F")
    assert [found[name] for name in FIGURES] == pytest.approx(
        [8 / 15, 0.300, 0.2905405, 0.304636, 0.3378378], abs=5e-7
    )
    assert found["alpha_ordinal"] == pytest.approx(0.5738721, abs=5e-8)
    assert (found["q"], found["n_items"], found["n_pairable"]) == (3, 5, 5)
    assert {(pair["a"], pair["b"]) for pair in found["pairs"]} == {
        ("rater1", "rater2"),
        ("rater1", "rater3"),
        ("rater2", "rater3"),
    }
    assert found["intervals"]["randolph"]["clusters"] == 5


@pytest.mark.parametrize(
    "chosen", [("--annotators", "rater1,rater3"), ("--annotator", "rater1", "--annotator", "rater3")]
)
def test_people_are_chosen_in_a_file_as_in_a_study(tmp_path: Path, chosen: tuple[str, ...]) -> None:
    path = write(tmp_path, "FPF", "NNN", "FFN", "NPN")
    found = report("agreement", "--labels", path, "--categories", "N,P,F", *chosen)
    assert [(pair["a"], pair["b"]) for pair in found["pairs"]] == [("rater1", "rater3")]
    assert found["percent"] == 0.75


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        (("--annotators", "rater1,zoe"), "Nobody called zoe labelled here; there are: rater1, rater2."),
        (("--control", "--study", "S"), "--labels reads the file alone: leave out --study, --control."),
    ],
)
def test_what_a_file_cannot_give_is_a_sentence(tmp_path: Path, chosen: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError) as refused:
        report("agreement", "--labels", write(tmp_path, "NN", "FF"), "--categories", "N,F", *chosen)
    assert str(refused.value) == sentence


def test_fewer_figures_than_items_have_reasons_instead_of_zeros(tmp_path: Path) -> None:
    found = report("agreement", "--labels", write(tmp_path, "N.", ".F", "N."), "--categories", "N,F")
    assert [found[name] for name in FIGURES] == [None] * 5
    assert found["reasons"]["fleiss"] == "no item has two ratings"
    assert (found["n_items"], found["n_pairable"], found["pairs"]) == (3, 0, [])


def test_clusters_of_a_file_are_resampled_and_few_give_no_interval(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    rows = [
        {"annotator": who, "item": str(item), "label": "NF"[item % 2], "cluster": f"c{item % 3}"}
        for item in range(40)
        for who in ("a", "b")
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    found = report("agreement", "--labels", path, "--categories", "N,F")
    assert (found["n_clusters"], found["clusters"]) == (3, "clusters")
    assert found["reasons"]["percent"] == "no interval under 5 clusters"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("annotator,label\na,N\n", "row 1: expected the columns annotator, item, label, got a head without item."),
        (
            "annotator,item,label\na,1,N\na,1,F\n",
            "row 3.item: expected one label of a for 1, got another one after row 2.",
        ),
        ("annotator,item,label\na,1,X\n", "row 2.label: expected one of N, F, got the text “X”."),
        ("annotator,item,label\n,1,N\n", "row 2.annotator: expected a text that is not empty"),
        ("annotator,item,label\na,1,N,2\n", "row 2: expected as many cells as the head has"),
        ("annotator,item,label\n", "expected at least one label, got none."),
    ],
)
def test_a_bad_row_of_a_file_is_named(tmp_path: Path, body: str, sentence: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(body)
    with pytest.raises(CommandError) as refused:
        report("agreement", "--labels", path, "--categories", "N,F")
    assert sentence in str(refused.value)


def test_no_labels_or_an_unknown_study_is_a_sentence() -> None:
    with pytest.raises(CommandError, match="There are no labels here"):
        report("judges")
    with pytest.raises(CommandError, match="There is no study “nothing”"):
        report("agreement", "--study", "nothing")


def test_what_a_file_leaves_open_is_told_beside_its_figures(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("annotator,item,label\na,1,yes\nb,1,NA\na,2,no\nb,2,no\na,3,yes\nb,3,no\n")
    told = io.StringIO()
    call_command("report", "agreement", "--labels", str(path), stdout=io.StringIO(), stderr=told)
    assert told.getvalue().splitlines() == [
        "warning: row 3.label: expected a label, got the text “NA”. "
        "It counts as no label; name it among the categories if it is one.",
        "warning: label: expected the categories that the task allows, got none named. "
        "Those of the file are used: no, yes. An unused category is missing.",
    ]


def test_filters_of_summaries_are_refused_for_labels_made_elsewhere(tmp_path: Path, ada) -> None:
    path = write(tmp_path, *FIRST)
    output_of("import_labels", path, "--study", "Elsewhere", "--researcher", ada.username)
    assert report("agreement", "--study", "Elsewhere")["n_items"] == len(FIRST)
    with pytest.raises(CommandError, match=r"labels made elsewhere.*: leave out --haystack, --guideline"):
        report("agreement", "--study", "Elsewhere", "--haystack", "Tides", "--guideline", "1")


def test_bias_of_judges_that_cover_different_summarizers_stands_beside_their_names() -> None:
    study = make_labelled_study(summaries=make_summaries(), judges=("first", "second"))
    Verdict.objects.filter(judge__name="first").filter(summary__system__summarizer="alpha").delete()
    found = {
        row["judge"]: {one["summarizer"]: one for one in row["summarizers"]}
        for row in report("bias", "--study", study.name)
    }
    assert (set(found["first"]), set(found["second"])) == ({"beta"}, {"alpha", "beta"})
    head, alpha, beta, *_averages = text("bias", "--study", study.name).splitlines()
    assert head.split() == ["summarizer", "first", "second"]
    [second_alpha, first_beta, second_beta] = [
        f"{one['delta']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"
        for one in (found["second"]["alpha"], found["first"]["beta"], found["second"]["beta"])
    ]
    assert re.split(" {2,}", alpha) == ["alpha", "—", second_alpha]
    assert re.split(" {2,}", beta) == ["beta", first_beta, second_beta]
    Verdict.objects.filter(judge__name="second").delete()
    assert text("bias", "--study", study.name).splitlines()[1].startswith("beta ")


def test_judges_and_bias_of_a_study_or_a_dataset() -> None:
    study = make_labelled_study(summaries=make_summaries())
    assert [row["n_insights"] for row in report("judges")] == [36, 36]
    other = make_summaries(n=8, dataset="boats")
    make_labelled_study(summaries=other, judges=("kind",), name="Boat links", seed=4)
    for name in ("judges", "bias", "agreement"):
        with pytest.raises(CommandError, match="never mixed; name one with --study: “Boat links”, “Ferry links”"):
            report(name)
    assert [row["n_insights"] for row in report("judges", "--dataset", "boats")] == [24]
    row = report("judges", "--study", study.name, "--reference", "anna")[0]
    assert set(row["covered"]) == {"accuracy", "kappa", "tpr", "tnr"}
    assert set(row["linking_authors"]) == {"hits", "n", "value"}
    assert row["reasons"]["cost"] == "imported predictions come without their usage"
    assert row["intervals"]["pearson"]["clusters"] == 6
    finer = report("judges", "--study", study.name, "--reference", "anna", "--clusters", "summaries")[0]
    assert finer["intervals"]["pearson"]["clusters"] == 12
    for row in report("bias", "--study", study.uid):
        assert [one["summarizer"] for one in row["summarizers"]] == ["alpha", "beta"]
        assert {"delta", "low", "high", "n"} <= set(row["summarizers"][0])
        assert {"over_summarizers", "over_summaries", "over_insights"} <= set(row["overall"])
        assert set(row["length"]) == {"bullets", "all_lines", "with_citations", "authors"}
    assert report("agreement", "--study", study.name, "--annotator", "anna", "--annotator", "bert")[
        "annotators"
    ] == [
        "anna",
        "bert",
    ]
    # Judges come with all that follows from them
    full = report("judges", "--study", study.name, "--full")
    assert set(full) == {"judges", "people", "differences", "ranking", "corrected", "consistency"}
    assert full["judges"] == report("judges", "--study", study.name)
    assert [one["judge"] for one in full["ranking"]] == [row["judge"] for row in full["judges"]]
    people = full["people"]
    assert people["highest_correlation"]["pearson"] == pytest.approx(max(people["pearson"], 0) ** 0.5)
    pairs = {(one["first"], one["second"]) for one in full["differences"]}
    assert {(row["judge"], "people") for row in full["judges"]} < pairs


@pytest.mark.parametrize("name", ["agreement", "judges", "bias"])
def test_every_report_is_also_a_table_for_a_console_with_intervals(name: str) -> None:
    make_labelled_study(summaries=make_summaries())
    assert len(text(name).splitlines()) > 2
    assert text(name).count("[") >= 6


def test_a_reference_or_annotator_who_labelled_nothing_is_named_with_those_who_did() -> None:
    make_labelled_study(summaries=make_summaries())
    with pytest.raises(CommandError, match="use one of: mean, majority, adjudicated, anna, bert, cora"):
        report("judges", "--reference", "zoe")
    with pytest.raises(CommandError, match="there are: anna, bert, cora"):
        report("agreement", "--annotator", "zoe")
    make_labelled_study(summaries=make_summaries(n=2, dataset="empty"), judges=(), name="No judge")
    with pytest.raises(CommandError, match="No judge has judged"):
        report("judges", "--study", "No judge")


def test_every_report_is_in_the_list() -> None:
    modules = [
        import_module(f"{package.__name__}.{module.name}")
        for package in (agreement, leaderboard)
        for module in iter_modules(package.__path__)
        if "report" in module.name
    ]
    made = {id(value) for module in modules for value in vars(module).values() if isinstance(value, Report)}
    made |= {id(report) for kind in kinds() for report in kind.reports.values()}
    assert made == {id(report) for report in REPORTS.values()}


def test_the_published_judges_have_the_figures_of_the_authors(published: Path) -> None:
    source = published / "eval_benchmark_conversations.json"
    output_of("import_dataset", "summhay-eval-benchmark", source, "--json")
    expected = json.loads((published / "expected_figures.json").read_text())["conversations_114"]
    found = {row["judge"]: row for row in report("judges")}
    assert set(found) == set(expected)
    for name, figures in expected.items():
        assert found[name]["pearson"] == pytest.approx(figures["pearson"], abs=1e-9)
        assert found[name]["linking_authors"]["hits"] == figures["link_hits"]
        assert found[name]["linking_authors"]["n"] == figures["link_n"]
        assert found[name]["n_insights"] == figures["n_insights"]
    # All summaries of GPT3.5 in the benchmark are among these; Table 4 has the same row.
    by_authors = {row["judge"]: row for row in report("bias", "--rule", "authors")}
    printed = {"gpt-4o": 0.009, "claude3-opus": 0.050, "gemini-1.5-pro": 0.048}
    for name, delta in printed.items():
        row = by_authors[f"prompted_{name}"]
        of_gpt = next(one for one in row["summarizers"] if one["summarizer"] == "gpt3.5")
        assert round(of_gpt["delta"], 3) == delta
        assert row["average"] == pytest.approx(fmean(one["delta"] for one in row["summarizers"]))
    # What the authors' own code gives on this part of their file
    length = {name: row["length"]["authors"] for name, row in by_authors.items()}
    assert round(length["prompted_gpt-4o"]["score"], 3) == -0.044
    assert round(length["prompted_claude3-opus"]["score"], 3) == -0.116
    assert round(length["prompted_gemini-1.5-pro"]["difference"], 3) == -0.086
    assert text("bias", "--rule", "authors").splitlines()[-3].split()[0] == "average"
    assert "with citations and score" in text("bias")
    # The offline judge stands beside the published ones
    judge = versions.default_judge(now=timezone.now())
    run = judging.request_run(judge=judge, subjects=Summary.objects.all(), reason="test", now=timezone.now())
    judging.run_pending(run=run, clock=timezone.now)
    row = next(one for one in report("judges") if one["judge"] == "lexical-2")
    assert row["pearson"] >= 0.66
    assert row["linking_authors"]["hits"] >= 0.87 * row["linking_authors"]["n"]
    assert row["cost"] == 0


def test_before_a_majority_each_person_stands_before_the_majority_of_the_others() -> None:
    study = make_labelled_study(summaries=make_summaries(), people=("anna", "bert", "carl"))
    people = report("judges", "--study", study.name, "--full", "--reference", "majority")["people"]
    assert people["reference"] == "majority of the others"
    labels = CoverageLabel.objects.filter(study=study).values_list("summary", "insight", "annotator", "coverage")
    of: dict[tuple[int, int], dict[int, str]] = {}
    for summary, insight, annotator, coverage in labels:
        of.setdefault((summary, insight), {})[annotator] = coverage
    shares = []
    for person in {who for row in of.values() for who in row}:
        agreed = [
            len({*others}) == 1 and own == others[0] for own, others in _split(of, person) if len({*others}) == 1
        ]
        shares.append(sum(agreed) / len(agreed))
    assert people["exact_agreement"] == pytest.approx(sum(shares) / 3)
    two = make_labelled_study(summaries=make_summaries(dataset="boats"), people=("dora", "emil"), name="Two")
    assert (
        report("judges", "--study", two.name, "--full", "--reference", "majority")["people"]["reference"]
        == "people"
    )


def _split(of, person: int) -> list[tuple[str, list[str]]]:
    return [(row[person], [label for who, label in row.items() if who != person]) for row in of.values()]


def test_intervals_over_people_speak_of_annotators_like_these() -> None:
    people = ("anna", "bert", "carl", "dora", "emil")
    where = ("--study", make_labelled_study(summaries=make_summaries(n=16), people=people).name)
    items, over = report("agreement", *where), report("agreement", *where, "--clusters", "people")
    assert over["clusters"] == "subtopics and people"
    for name in ("percent", "randolph", "correlation", "linking"):
        assert over[name] == items[name]
        one, other = items["intervals"][name], over["intervals"][name]
        assert other["method"].endswith("double jackknife over people and clusters")
        assert other["high"] - other["low"] > one["high"] - one["low"]
    full = report("judges", *where, "--clusters", "people", "--full")
    for row in (*full["judges"], full["people"], *full["differences"]):
        assert row["intervals"]["pearson"]["method"].endswith("double jackknife over people and clusters")
    by_name = report("judges", *where, "--clusters", "people", "--reference", "anna")
    assert by_name[0]["intervals"]["pearson"]["method"].endswith("cluster bootstrap")
    few = make_labelled_study(summaries=make_summaries(dataset="boats"), name="Three")
    found = report("agreement", "--study", few.name, "--clusters", "people")
    assert found["reasons"]["percent"] == "no interval over people under 5 annotators"


def test_whether_a_judge_may_replace_an_annotator() -> None:
    study = make_labelled_study(summaries=make_summaries(), people=("anna", "bert", "carl"))
    give_accounts(study)
    rows = report("replaceability", "--study", study.name)
    assert {row["judge"] for row in rows} == {row["judge"] for row in report("judges", "--study", study.name)}
    for row in rows:
        assert {one["annotator"] for one in row["against"]} == {"annotator1", "annotator2", "annotator3"}
        assert row["left_out"] == []
        assert row["passes"] == (row["winning_rate"] >= 0.5)
        assert all(one["clusters"] == 6 for one in row["against"])
    for epsilon in ("-1", "1", "nan"):
        with pytest.raises(CommandError, match="--epsilon is a number from 0"):
            report("replaceability", "--study", study.name, "--epsilon", epsilon)
    few = make_labelled_study(summaries=make_summaries(dataset="boats"), people=("dora", "emil"), name="Two")
    [row, *_others] = report("replaceability", "--study", few.name)
    assert row["passes"] is None
    assert "2 annotators" in row["reason"]


def test_the_report_names_by_pseudonym_who_has_too_few_items_to_be_replaced() -> None:
    study = make_labelled_study(summaries=make_summaries(), people=("anna", "bert", "carl", "dora"))
    give_accounts(study)
    dora = study.coveragelabels.filter(annotator__label="dora").order_by("pk")
    CoverageLabel.objects.filter(pk__in=[label.pk for label in dora[12:]]).delete()
    for row in report("replaceability", "--study", study.name):
        assert {one["annotator"] for one in row["against"]} == {"annotator1", "annotator2", "annotator3"}
        assert row["left_out"] == [{"annotator": "annotator4", "n_items": 12, "reason": "fewer than 30 items"}]
    shown = output_of("report", "replaceability", "--study", study.name)
    assert "left out: annotator4 (12: fewer than 30 items)" in shown
    assert "dora" not in shown
