"""What ratings come to: results, files, reports, ratings of before, and a further aspect that is one row."""

import re
from collections import Counter
from datetime import datetime
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.http import QueryDict
from django.urls import reverse
from django.utils.translation import override

from annotation.models import RatingLabel, Study
from annotation.people.removal import going_of, remove_work
from annotation.rating.answers import RATED, overview_of, with_aspects
from annotation.rating.kind import KIND
from annotation.rating.results import results_of
from benchmarks.engine.scopes import studies
from benchmarks.judges.aspects import ASPECTS, Aspect
from benchmarks.models import Judge, JudgeCall, JudgeRun, Summary, SummaryRating
from tests.annotation.rated import judge_all, make_rating_study, rate, rate_all
from tests.makers import (
    annotator_of,
    flat,
    label_task,
    label_url,
    make_assignment,
    make_haystack,
    make_session,
    make_summary,
    make_writing_study,
)
from tests.running import csv_rows, json_of, output_of

pytestmark = pytest.mark.django_db


RATINGS = ([5, 5, 4, 4, 5], [2, 1, 3, 3, 2], [4, 4, 4, 5, 4], [1, 2, 3, 2, 1])


@pytest.fixture
def rated(ada, ben, cleo) -> Study:
    """Four summaries rated by two people, and by a judge with one unusable answer."""
    study = make_rating_study(annotators=[ben, cleo], researcher=ada)
    rate_all(study, ben, RATINGS)
    rate_all(study, cleo, [RATINGS[0], RATINGS[1], RATINGS[2], [4, 2, 3, 2, 1]])
    judge_all(study, "sparrow", [*RATINGS[:3], [1, 2, None, 2, 1]])
    return study


def test_the_overview_counts_mean_ratings(rated: Study, as_ada) -> None:
    found = {row.member.annotator.label: row for row in overview_of(rated).people}
    assert {name: row.means["overall"] for name, row in found.items()} == {"Ben": 3.0, "Cleo": 3.75}
    assert {row.n_done for row in found.values()} == {4}
    assert "3.75" in as_ada.get(reverse("annotation:study", args=[rated.uid])).content.decode()


def test_only_first_answers_of_judges_that_are_not_archived_count(rated: Study, now: datetime) -> None:
    first = SummaryRating.objects.filter(aspect="overall").order_by("pk")[0]
    again: dict[str, Any] = {"judge": first.judge, "summary": first.summary, "aspect": "overall"}
    SummaryRating.objects.create(value=1, repeat=1, created_at=now, **again)
    [found] = results_of(rated).report.measures[0].judges
    assert found.stats["exact_agreement"].value == pytest.approx((1 + 0.75) / 2)
    Judge.objects.update(archived_at=now)
    assert not results_of(rated).report.measures[0].judges


def test_results_put_people_judges_and_systems_on_one_page(
    rated: Study, as_ada, django_assert_max_num_queries
) -> None:
    found = results_of(rated)
    overall, *_others, mean = found.report.measures
    assert overall.people.stats["exact_agreement"].value == 0.75
    assert overall.judges[0].stats["exact_agreement"].value == pytest.approx((1 + 0.75) / 2)
    assert mean.judges[0].n_items == 3, "without its rating of quality the last summary has no mean"
    assert found.n_invalid == {"sparrow": 1}
    people, judge = found.report.systems
    assert {row.system: row.stats["overall"].value for row in people.rows} == {
        "model-a · full-ctxt": 4.5,
        "model-b · full-ctxt": 2.25,
    }
    assert judge.rows[1].stats["quality"].value == 3
    assert [(one.aspect, one.people, one.judges) for one in found.differing] == [
        ("overall", (("Ben", 1), ("Cleo", 4)), (("sparrow", 1),))
    ]
    url = reverse("annotation:study-figures", args=[rated.uid])
    as_ada.get(url)
    with django_assert_max_num_queries(20):
        shown = flat(as_ada.get(url).content.decode())
    assert "1 rating of sparrow could not be used." in shown
    named = re.search(r"Most on (\S+) \(.*?\), least on (\S+) \(", shown)
    cards = shown[: shown.index("Correlation of mean ratings")]
    assert named
    assert all(f"<span>{name.capitalize()}" in cards for name in named.groups())
    assert "4 of 4 summaries rated in full; people: 2, judges: 1." in shown
    assert "model-b · all documents" in shown
    assert "full-ctxt" not in shown, "a name of files"


def test_files_and_report_have_pseudonyms_and_reasons(rated: Study, as_ada) -> None:
    values = as_ada.get(reverse("annotation:study-figures-file", args=[rated.uid, "figures.json"])).json()
    assert values["people"] == ["annotator1", "annotator2"]
    printed = json_of("report", "likert")
    assert printed["study"] == "Ferry ratings"
    assert printed["measures"] == values["measures"]
    overall = printed["measures"][0]
    assert overall["people"]["n"] == 4
    assert overall["judges"][0]["reasons"]["pearson"] == "no interval under 5 clusters"
    assert printed["judges"] == [{"judge": "sparrow", "n_invalid": 1}]
    assert [side["rater"] for side in printed["systems"]] == ["people", "sparrow"]
    one, other = printed["systems"][0]["rows"]
    [pair] = printed["systems"][0]["differences"]
    assert pair["mean"] == pytest.approx(one["mean"] - other["mean"])
    assert one["mean"] == pytest.approx(one["own"]["mean"]), "both people rated all systems on all subtopics"
    assert "4 of 4 summaries rated in full" in output_of("report", "likert", "--study", "Ferry ratings")
    file = as_ada.get(reverse("annotation:study-figures-file", args=[rated.uid, "figures.csv"]))
    rows = csv_rows(file.getvalue())
    figures = [row for row in rows if row["figure"] != "n"]
    assert Counter(row["row"] for row in figures if row["part"].startswith("raters-")) == {
        "people among themselves": 5 * 7 + 4,
        "sparrow": 5 * 7 + 4,
    }
    systems = {f"systems-{rater}{of}": 2 * 6 for rater in ("people", "1") for of in ("", "-own")}
    systems |= {f"systems-{rater}-differences": 6 + 1 for rater in ("people", "1")}
    assert Counter(row["part"] for row in figures if row["part"].startswith("systems-")) == systems
    assert {(row["row"], row["figure"]) for row in figures if row["part"] == "ranking"} == {
        ("sparrow", "kendall"),
        ("sparrow", "spearman"),
    }
    assert as_ada.get(reverse("annotation:study-figures-file", args=[rated.uid, "other"])).status_code == 404


def test_old_addresses_lead_to_the_results(rated: Study, as_ada) -> None:
    old = f"/studies/{rated.uid}/ratings"
    assert as_ada.get(f"{old}/results/").headers["Location"] == reverse(
        "annotation:study-figures", args=[rated.uid]
    )
    file = reverse("annotation:study-figures-file", args=[rated.uid, "figures.json"])
    assert as_ada.get(f"{old}/files/figures.json").headers["Location"] == file


def test_the_report_says_which_study_it_needs(rated: Study, ben) -> None:
    make_rating_study(annotators=[ben], summaries=Summary.objects.all(), name="Second")
    with pytest.raises(CommandError, match="“Ferry ratings”, “Second”"):
        call_command("report", "likert")
    Study.objects.filter(pk=rated.pk).update(kind="linking")
    with pytest.raises(CommandError, match="no rating study"):
        call_command("report", "likert", "--study", rated.name)


def test_labels_leave_as_rows_with_what_was_undone_in_the_history(rated: Study, as_ada, ben) -> None:
    task = rated.label_tasks.filter(annotator=annotator_of(ben)).order_by("item__summary")[0]
    rate(task, [None], op="clear")

    def rows(which: str) -> list[dict[str, str]]:
        file = as_ada.get(reverse("annotation:study-labels", args=[rated.uid, "csv"]), {"which": which})
        return csv_rows(file.getvalue())

    assert len(rows("current")) == 7 * len(ASPECTS)
    history = rows("history")
    assert len(history) == 9 * len(ASPECTS)
    assert [row["task"] for row in history[-len(ASPECTS) :]] == list(ASPECTS)
    assert {(row["label"], row["is_complete"]) for row in history[-len(ASPECTS) :]} == {("", "False")}
    assert {row["annotator"] for row in history} == {"annotator1", "annotator2"}


def test_runs_of_judges_can_be_about_a_rating_study(rated: Study) -> None:
    assert studies().summaries(str(rated.uid)).count() == 4
    assert (str(rated.uid), rated.name) in studies().named()


def test_on_request_ratings_go_with_their_writer_and_with_the_text(ada, ben, cleo, now: datetime) -> None:
    writing = make_writing_study(researcher=ada, annotators=[ben])
    task = make_assignment(study=writing, annotator=ben, state="done")
    own = make_summary(subtopic=task.subtopic, origin="session", text="- Boats leave at six. [1]")
    session = make_session(assignment=task, state="submitted", revisions=[(1000, own.text)])
    session.snapshots.create(
        mark_ms=1000,
        kind="final",
        text=own.text,
        summary=own,
        revision=session.revisions.get(),
        filled_by="submit",
        created_at=now,
    )
    other = make_summary(subtopic=task.subtopic)
    study = make_rating_study(annotators=[ben, cleo], summaries=[own, other])
    rate_all(study, ben, [RATINGS[1]])
    rate_all(study, cleo, RATINGS[:2])
    judge = judge_all(study, "sparrow", RATINGS[:2])
    run = JudgeRun.objects.create(judge=judge, task="ratings", created_at=now)
    for text in (own, other):
        call = JudgeCall.objects.create(
            cache_key=str(text.pk) * 8,
            run=run,
            base_url="http://model.test",
            model="m",
            prompt_sha256="p",
            state="answered",
            claimed_at=now,
            answered_at=now,
            reply={"content": text.text},
        )
        SummaryRating.objects.filter(summary=text).update(call=call)
    going = going_of(annotator_of(ben))
    assert going.totals["labels"] == 1
    assert going.totals["labels_of_others"] == 1
    assert going.totals["verdicts"] == 5
    assert len(going.calls) == 1
    remove_work(annotator=annotator_of(ben), mode="deleted", by=None, now=now)
    left = RatingLabel.objects.get()
    assert (left.summary, left.annotator) == (other, annotator_of(cleo))
    assert set(SummaryRating.objects.values_list("summary", flat=True)) == {other.pk}
    assert sorted(JudgeCall.objects.values_list("reply__content", flat=True), key=str) == [other.text, None]
    assert study.label_items.count() == 1


def test_systems_that_no_subtopic_links_are_shown_by_themselves_and_not_compared(ada, as_ada, ben) -> None:
    haystack = make_haystack()
    summaries = [
        make_summary(subtopic=subtopic, system=f"model-{subtopic.number}") for subtopic in haystack.subtopics.all()
    ]
    study = make_rating_study(annotators=[ben], summaries=summaries, researcher=ada)
    rate_all(study, ben, [[4] * 5, [2] * 5])
    page = as_ada.get(reverse("annotation:study-figures", args=[study.uid]))
    assert "no subtopic rated by the same people links these systems" in flat(page.text)
    sheet = page.context["sheet"]
    assert sheet.table("systems-people") is None
    assert sheet.table("systems-people-differences") is None
    own = sheet.table("systems-people-own")
    assert not own.is_folded
    assert [row.number("mean") for row in own.rows] == [4, 2]


FIVE = ("overall", "informativeness", "quality", "coherence", "attributability")
BRIEF = Aspect(
    "brevity", "brevity", "How short is it?", "rambles", "in a line", "short? 1: it rambles. 5: a line."
)
JSON = {"Accept": "application/json"}


def test_a_sixth_aspect_is_rated_and_in_results_and_archives(
    ada, as_ada, ben, as_ben, cleo, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_rating_study(annotators=[ben, cleo], researcher=ada)
    rate_all(study, cleo, [[5, 4, 3, 2, 1]] * 4)
    monkeypatch.setitem(ASPECTS, BRIEF.key, BRIEF)
    task = label_task(study, ben)
    page = as_ben.get(label_url("label-task", task)).content.decode()
    assert page.count('type="radio" name="brevity"') == 5
    assert "How short is it?" in page
    assert "Six aspects, each from 1 to 5." in page
    five = dict.fromkeys(FIVE, "4")
    assert as_ben.post(label_url("label-choice", task), five, headers=JSON).json()["is_complete"] is False
    told = as_ben.post(label_url("label-choice", task), {**five, "brevity": "2"}, headers=JSON).json()
    assert (told["brevity"], told["is_complete"], told["state"]) == (2, True, "done")
    undone = as_ben.post(label_url("label-undo", task), headers=JSON).json()
    assert undone["message"] == "Undone: brevity 2 on item 1."
    rate_all(study, ben, [[4, 4, 4, 4, 4, level] for level in (2, 3, 4, 5)])
    results = results_of(study, resampling=None)
    assert results.aspects == (*FIVE, "brevity")
    by_measure = {each.measure: each for each in results.report.measures}
    assert (by_measure["quality"].people.n_items, by_measure["brevity"].people.n_items) == (4, 0)
    [system, *_] = results.report.systems[0].rows
    assert system.own["brevity"].value == pytest.approx(3)
    shown = as_ada.get(reverse("annotation:study-labels", args=[study.uid, "csv"]), {"which": "current"})
    rows = csv_rows(shown.getvalue())
    assert [row["label"] for row in rows if row["task"] == "brevity"] == ["2", "3", "4", "5"]
    assert len(rows) == 4 * 5 + 4 * 6
    assert "brevity" in as_ada.get(reverse("annotation:study", args=[study.uid])).content.decode()


def test_studies_of_before_a_sixth_aspect_keep_their_figures(
    ada, ben, cleo, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_rating_study(annotators=[ben, cleo], researcher=ada)
    for person, ratings in ((ben, [[5, 4, 3, 2, 1]] * 4), (cleo, [[3, 4, 3, 2, level] for level in (1, 2, 4, 5)])):
        rate_all(study, person, ratings)
    before = results_of(study)
    monkeypatch.setitem(ASPECTS, BRIEF.key, BRIEF)
    assert results_of(study) == before


def test_prose_has_a_sixth_aspect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ASPECTS, BRIEF.key, BRIEF)
    assert with_aspects("The {number} aspects\n{aspects}", str).startswith("The six aspects\n- **Overall**: would")
    assert with_aspects("{aspects}", str).endswith("\n- **Brevity**: short? 1: it rambles. 5: a line.")
    assert (
        "six aspects (overall, informativeness, quality, coherence, attributability and brevity)"
        in KIND.work_in_words(Study())
    )
    with override("de"):
        assert (
            RATED.in_words(None, RATED.parse(QueryDict("brevity=2&quality=1"))) == "Verständlichkeit 1, brevity 2"
        )
