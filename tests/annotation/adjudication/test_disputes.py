"""Disagreements are decided by researchers; decisions are a reference for judges and never a label."""

import json
from datetime import datetime
from typing import Any

import pytest
from django.urls import reverse

from annotation.adjudication import deciding, views
from annotation.adjudication.decisions import DecisionRefused
from annotation.coverage.collect import coverage_table, data_version, gold_of
from annotation.linking import disputes, files
from annotation.models import CoverageAdjudication, CoverageLabel, Exposure, Study
from annotation.results.people import agreement
from benchmarks.models import AuditEvent, Insight, Summary
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.running import csv_rows, output_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(ada) -> Study:
    return make_labelled_study(summaries=make_summaries(n=8), researcher=ada)


def first(study: Study) -> tuple[Summary, Insight]:
    place = disputes.queue_of(coverage_table(study.coveragelabels.all(), study=study))[0]
    return Summary.objects.get(pk=place.key[0]), Insight.objects.get(pk=place.key[1])


def decide(study: Study, by, now: datetime, **values) -> CoverageAdjudication:
    summary, insight = first(study)
    given = {"coverage": "full", "lines": [2], **values}
    return disputes.adjudicate(study=study, summary=summary, insight=insight, by=by, now=now, **given)


def test_a_decision_is_kept_beside_the_labels_and_superseded_by_the_next(ada, study: Study, now) -> None:
    labels = list(CoverageLabel.objects.order_by("pk").values())
    old = decide(study, ada, now, note=" Both say it. ")
    new = decide(study, ada, now, coverage="none", lines=[2])
    old.refresh_from_db()
    assert (old.is_current, old.note, new.supersedes, new.lines, new.is_linked) == (
        False,
        "Both say it.",
        old,
        [],
        False,
    )
    assert list(CoverageLabel.objects.order_by("pk").values()) == labels
    assert Exposure.objects.get(user=ada, reason="adjudication").haystack == old.summary.haystack
    assert AuditEvent.objects.filter(action="label.adjudicate", actor=ada).count() == 2
    place = {"study": study, "item": {"summary": new.summary, "insight": new.insight}}
    assert disputes.DECISIONS.take_back(**place, by=ada, now=now)
    assert not disputes.DECISIONS.take_back(**place, by=ada, now=now)
    assert gold_of([study]) == {}
    assert CoverageAdjudication.objects.count() == 2


@pytest.mark.parametrize(
    "values",
    [{"coverage": "some"}, {"coverage": "full", "lines": []}, {"lines": [1]}, {"lines": [99]}, {"coverage": ""}],
    ids=["no category", "no line", "a lead-in", "no such line", "nothing"],
)
def test_what_is_no_answer_is_refused(ada, study: Study, now, values: dict[str, Any]) -> None:
    with pytest.raises(DecisionRefused):
        decide(study, ada, now, **values)
    assert not CoverageAdjudication.objects.exists()


def test_what_nobody_labelled_is_refused(ada, study: Study, now) -> None:
    summary, insight = first(study)
    CoverageLabel.objects.filter(summary=summary, insight=insight).delete()
    with pytest.raises(DecisionRefused):
        disputes.adjudicate(
            study=study, summary=summary, insight=insight, coverage="none", lines=[], by=ada, now=now
        )


def test_agreement_and_label_exports_never_see_a_decision(ada, study: Study, now) -> None:
    def seen():
        table = coverage_table(study.coveragelabels.all(), study=study)
        return repr(agreement(table)), list(files.label_rows(study, "history")), table.n_people

    before, version = seen(), data_version(study.coveragelabels.all())
    decide(study, ada, now)
    assert seen() == before
    assert data_version(study.coveragelabels.all()) != version


def test_the_queue_is_by_dispute_and_knows_what_is_decided(ada, study: Study, now) -> None:
    queue = disputes.queue_of(coverage_table(study.coveragelabels.all()))
    strengths = [place.dispute for place in queue]
    assert strengths == sorted(strengths, reverse=True, key=lambda one: one or 0)
    decide(study, ada, now)
    after = disputes.queue_of(coverage_table(study.coveragelabels.all()))
    assert [place.is_decided for place in after] == [True, *[False] * (len(queue) - 1)]
    assert deciding.narrowed(after, "open") == after[1:]
    assert deciding.next_open(after, after=after[-1].key) == after[1]
    assert deciding.next_open(after[:1]) is None


def test_decisions_fill_in_for_agreement_where_gold_is_drawn(ada, study: Study, now) -> None:
    summary, _ = first(study)
    assert summary.pk not in disputes.agreed_answers(study)
    for insight in summary.subtopic.insights.all():
        disputes.adjudicate(
            study=study, summary=summary, insight=insight, coverage="partial", lines=[3], by=ada, now=now
        )
    assert set(disputes.agreed_answers(study)[summary.pk].values()) == {("partial", (3,))}


def test_the_pages_lead_from_one_decision_to_the_next(as_ada, study: Study) -> None:
    queue = as_ada.get(reverse("annotation:disagreements", args=[study.uid]))
    assert queue.context["n_all"] > 1
    item = as_ada.get(reverse("annotation:disagreements-next", args=[study.uid])).url
    page = as_ada.get(item)
    assert page.status_code == 200
    assert len(page.context["dispute"].people) == 3
    assert as_ada.post(item, {"answer": "full", "line": ["9" * 5000]}).status_code < 500
    done = as_ada.post(item, {"answer": "full", "line": ["2"], "note": "Line two."}, follow=True)
    assert done.redirect_chain[-1][0] != item
    assert CoverageAdjudication.objects.get().note == "Line two."
    queue = as_ada.get(reverse("annotation:disagreements", args=[study.uid]), {"show": "decided"})
    assert (queue.context["n_decided"], len(queue.context["rows"])) == (1, 1)
    assert ">full</span>" in queue.content.decode().rpartition("<td>")[2], "it says what was decided"
    assert "blind" in as_ada.get(queue.request["PATH_INFO"], {"summarizer": "nobody"}).content.decode(), (
        "filters stay"
    )
    wrong = as_ada.post(item, {"answer": "full", "note": "<script>"})
    assert wrong.status_code == 422
    assert b"<script>" not in wrong.content.split(b"<textarea")[1]
    as_ada.post(item, {"action": "take_back"})
    assert not CoverageAdjudication.objects.filter(is_current=True).exists()
    judge = study.coveragelabels.first().summary.verdicts.first().judge
    between = as_ada.get(reverse("annotation:disagreements", args=[study.uid]), {"between": str(judge.uid)})
    assert f"Where annotators and {judge.name} differ" in between.content.decode()


def test_a_blind_decision_sees_letters_and_no_judge_and_is_kept_as_blind(as_ada, study: Study) -> None:
    open_rows = as_ada.get(reverse("annotation:disagreements", args=[study.uid]), {"blind": "1"})
    names = {one.name for row in open_rows.context["rows"] for one in row[1].said}
    assert names <= {"A", "B", "C"}
    assert b"alpha" not in open_rows.content.split(b"<tbody>")[1]
    item = as_ada.get(reverse("annotation:disagreements-next", args=[study.uid]), {"blind": "1"}).url
    found = as_ada.get(item).context["dispute"]
    assert ([one.name for one in found.people], found.judges) == (["A", "B", "C"], ())
    assert [one.key for one in found.people] == [one.key for one in as_ada.get(item).context["dispute"].people]
    shown = {one.key: one.name for one in as_ada.get(item.split("?")[0]).context["dispute"].people}
    assert set(shown.values()) == {"anna", "bert", "cora"}
    as_ada.post(item, {"answer": "full", "line": ["2"]})
    assert CoverageAdjudication.objects.get().was_blind
    after = as_ada.get(item).context["dispute"]
    assert ({one.name for one in after.people}, bool(after.judges)) == ({"anna", "bert", "cora"}, True)
    as_ada.post(item, {"answer": "none"})
    assert not CoverageAdjudication.objects.get(is_current=True).was_blind, "names were shown by then"


def test_a_form_that_is_delivered_again_also_late_stores_its_decision_once(as_ada, study: Study) -> None:
    summary, insight = first(study)
    item = reverse("annotation:dispute", args=[study.uid, summary.uid, insight.uid])

    def shown(**decision: str) -> dict[str, str]:
        page = as_ada.get(item)
        assert f'name="seen" value="{page.context["seen"]}"' in page.content.decode()
        return {**decision, "seen": page.context["seen"]}

    one = shown(answer="full", line="2")
    as_ada.post(item, one)
    as_ada.post(item, one)
    as_ada.post(item, shown(answer="none"))
    as_ada.post(item, one)
    rows = CoverageAdjudication.objects.order_by("pk").values_list("coverage", "is_current")
    assert list(rows) == [("full", False), ("none", True)]
    as_ada.post(item, shown(answer="full", line="2"))
    assert CoverageAdjudication.objects.count() == 3, "decided anew, by somebody who saw the others"


def test_letters_are_drawn_anew_for_each_item_and_stay(study: Study) -> None:
    people = ["anna", "bert", "cora"]
    orders = [tuple(views.letters(study, f"item {n}", people)) for n in range(60)]
    assert len(set(orders)) == 6, "every order occurs"
    assert orders == [tuple(views.letters(study, f"item {n}", people[::-1])) for n in range(60)]
    many = list(views.letters(study, "item", [f"person {n}" for n in range(28)]).values())
    assert (many[0], many[25], many[26:]) == ("A", "Z", ["A2", "B2"])


def test_the_queue_takes_the_same_queries_whatever_the_size(
    ada, as_ada, study: Study, django_assert_max_num_queries
) -> None:
    with django_assert_max_num_queries(24):
        as_ada.get(reverse("annotation:disagreements", args=[study.uid]))
    larger = make_labelled_study(summaries=make_summaries(n=30, dataset="trams"), researcher=ada, name="Larger")
    with django_assert_max_num_queries(24):
        as_ada.get(reverse("annotation:disagreements", args=[larger.uid]))


def test_the_queue_of_a_study_of_several_researchers_opens(as_ada, eve, study: Study) -> None:
    study.researchers.add(eve)
    assert study.researchers.count() == 2
    assert as_ada.get(reverse("annotation:disagreements", args=[study.uid])).status_code == 200


def test_an_item_of_no_study_is_not_there_for_an_admin_either(as_eve, study: Study) -> None:
    other = make_summaries(n=2, dataset="strange")[0]
    missing = reverse("annotation:dispute", args=[study.uid, other.uid, other.subtopic.insights.first().uid])
    assert as_eve.get(missing).status_code == 404


def test_the_gold_set_is_downloaded_and_can_be_taken_in(ada, as_ada, study: Study, now, tmp_path) -> None:
    decide(study, ada, now, note="Because, “so”.")
    answer = as_ada.get(reverse("annotation:adjudicated", args=[study.uid, "csv"]))
    content = answer.getvalue()
    [row] = csv_rows(content)
    assert (row["annotator"], row["label"], row["lines"], row["n_people"]) == ("adjudicated", "full", "2", "3")
    assert row["note"] == "Because, “so”."
    file = tmp_path / "gold.csv"
    file.write_bytes(content)
    output_of("import_labels", file, "--study", "Gold")
    assert (
        Study.objects.get(name="Gold").external_labels.count()
        + Study.objects.get(name="Gold").coveragelabels.count()
        == 1
    )
    lines = as_ada.get(reverse("annotation:adjudicated", args=[study.uid, "jsonl"])).getvalue()
    assert json.loads(lines)["n_people"] == 3
