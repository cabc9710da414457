"""The gold set as reference, file and queue: what it covers is said, and figures of people stay as they were."""

import json
from datetime import datetime
from decimal import Decimal

import pytest
from django.core.management import CommandError
from django.urls import reverse

from annotation.adjudication.decisions import DecisionRefused
from annotation.linking import disputes
from annotation.models import CoverageLabel, LabelTask, LinkingPlan, Study
from annotation.studies.overview import people_of
from benchmarks.models import Insight, Judge, Summary, Verdict
from benchmarks.results.stored import forget_all
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import label_task, make_linking_study
from tests.running import csv_rows, json_of, output_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(ada) -> Study:
    return make_labelled_study(summaries=make_summaries(), researcher=ada)


def decide(study: Study, n: int, by, now: datetime, **values) -> list[tuple[Summary, Insight]]:
    """Decide the first n items; gives them."""
    rows = study.coveragelabels.order_by("summary", "insight").values_list("summary", "insight").distinct()
    items = [(Summary.objects.get(pk=summary), Insight.objects.get(pk=insight)) for summary, insight in rows[:n]]
    given = {"coverage": "full", "lines": [2], **values}
    for summary, insight in items:
        disputes.adjudicate(study=study, summary=summary, insight=insight, by=by, now=now, **given)
    return items


def report(*args: str):
    return json_of("report", *args)


@pytest.mark.parametrize("scope", [("--study", "Ferry links"), ()])
def test_a_report_against_the_decisions_is_on_the_decided_items_and_says_how_many(
    study: Study, ada, now: datetime, scope: tuple[str, ...]
) -> None:
    with pytest.raises(CommandError, match="adjudicated"):
        report("judges", *scope, "--reference", "adjudicated")
    items = decide(study, 10, ada, now)
    for row in report("judges", *scope, "--reference", "adjudicated"):
        judge = Judge.objects.get(name=row["judge"])
        said = [
            Verdict.objects.get(judge=judge, summary=summary, insight=insight).coverage
            for summary, insight in items
        ]
        assert (row["reference_items"], row["labelled_items"], row["n_insights"]) == (10, 36, 10)
        assert row["exact_agreement"] == pytest.approx(said.count("full") / 10)
        assert sum(sum(counts.values()) for counts in row["confusion"].values()) == 10
    for row in report("bias", *scope, "--reference", "adjudicated"):
        assert row["reference_items"] == 10
        assert sum(one["n"] for one in row["summarizers"]) == row["n_summaries"] == 4
    assert {row["reference_items"] for row in report("judges", *scope)} == {36}


def test_decisions_change_nothing_of_what_people_and_their_ceiling_say(
    study: Study, ada, as_ada, now: datetime
) -> None:
    page = reverse("annotation:study-figures-file", args=[study.uid, "figures.json"])
    before, told = as_ada.get(page).json(), report("agreement", "--study", study.name)
    labels = reverse("annotation:study-labels", args=[study.uid, "csv"])
    exported = as_ada.get(labels).getvalue()
    decide(study, 20, ada, now)
    after = as_ada.get(page, {"reference": "adjudicated"}).json()
    assert after["people"] == before["people"]
    assert after["ceiling"] == before["ceiling"]
    assert after["judges"] != before["judges"]
    assert {row["reference_items"] for row in after["judges"]} == {20}
    assert report("agreement", "--study", study.name) == told
    assert as_ada.get(labels).getvalue() == exported


def test_the_page_says_what_the_reference_covers(study: Study, ada, as_ada, now: datetime) -> None:
    page = reverse("annotation:study-figures", args=[study.uid])
    assert "adjudicated label" not in as_ada.get(page, {"view": "judges"}).content.decode()
    decide(study, 3, ada, now)
    shown = as_ada.get(page, {"view": "judges", "reference": "adjudicated"}).content.decode()
    assert "which 3 of 36 items have" in shown
    assert '<option value="adjudicated" selected>' in shown


def test_one_bullet_is_enough_where_the_studys_people_had_one(study: Study, ada, now: datetime) -> None:
    decide(study, 1, ada, now, lines=[2, 3])
    LinkingPlan.objects.create(study=study)
    fresh = Study.objects.get(pk=study.pk)
    with pytest.raises(DecisionRefused, match="one bullet"):
        decide(fresh, 1, ada, now, lines=[2, 3])


def test_a_decision_leaves_with_everybodys_label_under_pseudonyms(
    study: Study, ada, as_ada, ben, now: datetime
) -> None:
    [(summary, insight)] = decide(study, 1, ada, now, note="=because")
    same = {"study": study, "summary": summary, "insight": insight}
    CoverageLabel.objects.create(
        annotator=ben.annotator,
        coverage="partial",
        lines=[2, 3],
        is_linked=True,
        is_complete=True,
        made_at=now,
        **same,
    )
    study.memberships.create(annotator=ben.annotator, number=9, joined_at=now)
    lines = as_ada.get(reverse("annotation:adjudicated", args=[study.uid, "jsonl"]))
    row = json.loads(lines.getvalue())
    assert row["n_people"] == len(row["labels"]) == 4
    assert {"annotator": "annotator9", "label": "partial", "lines": [2, 3]} in row["labels"]
    answer = as_ada.get(reverse("annotation:adjudicated", args=[study.uid, "csv"]))
    text = answer.getvalue().decode()
    [cells] = csv_rows(text)
    assert "annotator9 partial 2 3" in cells["labels"].split("; ")
    assert cells["note"] == "'=because"
    assert "Ben" not in text


def test_the_queue_can_be_of_one_summarizer_and_stays_so(study: Study, as_ada) -> None:
    queue = reverse("annotation:disagreements", args=[study.uid])
    whole = as_ada.get(queue).context
    part = as_ada.get(queue, {"summarizer": "alpha"}).context
    assert 0 < part["n_all"] < whole["n_all"]
    assert {row[1].system.split(" ")[0] for row in part["rows"]} == {"alpha"}
    following = as_ada.get(reverse("annotation:disagreements-next", args=[study.uid]), {"summarizer": "alpha"})
    assert following.headers["Location"].endswith("?summarizer=alpha")
    answer = as_ada.post(following.headers["Location"], {"answer": "none", "note": ""})
    assert "summarizer=alpha" in answer.headers["Location"]


def test_items_made_elsewhere_show_their_rows(as_ada, tmp_path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("annotator,item,label\na,one,yes\nb,one,no\n")
    output_of("import_labels", file, "--study", "Elsewhere", "--researcher", "ada")
    study = Study.objects.get(name="Elsewhere")
    answer = as_ada.get(reverse("annotation:disagreements", args=[study.uid]))
    rows = reverse("annotation:study-agreement-rows", args=[study.uid])
    assert answer.headers["Location"] == rows
    assert "one" in as_ada.get(rows).content.decode()
    figures = as_ada.get(reverse("annotation:study-figures", args=[study.uid])).content.decode()
    assert reverse("annotation:disagreements", args=[study.uid]) not in figures


def test_peoples_paid_time_stands_beside_the_cost_of_judges(ada, as_ada, ben, cleo, now: datetime) -> None:
    study = make_linking_study(annotators=[ben, cleo], researcher=ada, people_per_item=2)
    summary = label_task(study, ben).item.summary
    judge = Judge.objects.create(name="kind", kind="imported", config_sha256="kind", created_at=now)
    for insight in summary.subtopic.insights.all():
        Verdict.objects.create(
            judge=judge, summary=summary, insight=insight, coverage="none", is_linked=False, created_at=now
        )
        for person in (ben, cleo):
            CoverageLabel.objects.create(
                study=study,
                annotator=person.annotator,
                summary=summary,
                insight=insight,
                coverage="none",
                is_complete=True,
                made_at=now,
            )

    def cost():
        forget_all()
        page = as_ada.get(reverse("annotation:study-figures", args=[study.uid]))
        return page.context["shown"].figures.judges.ceiling.cost

    own = LabelTask.objects.filter(study=study, item__summary=summary)
    own.filter(annotator=ben.annotator).update(active_ms=1_800_000)
    assert cost().value is None
    assert "no working time is known" in cost().undefined_reason
    own.filter(annotator=cleo.annotator).update(active_ms=3_600_000)
    LabelTask.objects.filter(study=study).exclude(item__summary=summary).update(active_ms=999_999)
    Study.objects.update(hourly_rate=Decimal(20))
    assert (cost().value, cost().n_items) == (30.0, 2)
    LabelTask.objects.filter(study=study).update(active_ms=0)
    own.update(active_ms=1_801_000)
    study.refresh_from_db()
    on_overview = sum(row["cost"] for row in people_of(study))
    assert (cost().value, on_overview) == (20.02, Decimal("20.02")), "each person's pay is rounded by itself"
    Study.objects.update(currency="EUR")
    assert "EUR" in cost().undefined_reason
