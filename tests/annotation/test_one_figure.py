"""The joint score of the same people is one number, wherever it stands."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from annotation.kinds import kind_named
from annotation.models import RecruitmentLink, Study
from annotation.people.recruitment.outcomes import progress_of
from annotation.people.recruitment.pages import Person
from annotation.writing import results
from benchmarks.models import Summary, Verdict
from benchmarks.results.sheet import Cards
from benchmarks.web.downloads import is_available
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.annotation.leaderboard.board import BOTH, FIRST, PAGE, judged, written
from tests.makers import flat, make_haystack, make_writing_study
from tests.running import csv_rows, output_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("charts_stay_empty")]
JUDGE = ("--judge", "lexical-2")


@pytest.fixture
def people(ada, ben, cleo, now: datetime) -> Study:
    """Two people on one subtopic and one of them on the other, so that averages differ."""
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    written(ben, study, FIRST, now=now)
    written(cleo, study, BOTH, now=now)
    written(ben, study, BOTH, now=now, subtopic=study.writing_plan.subtopics.get(number=2))
    judged(study, now=now)
    return study


def printed(*arguments: str) -> str:
    return output_of("report", *arguments)


def body(client: Client, address: str) -> bytes:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.getvalue()


def table(client: Client, address: str) -> list[dict[str, str]]:
    return csv_rows(body(client, address))


def shown(html: str, before: str, place: int) -> float:
    """A number with a decimal in the row of a page that has some words, by its place."""
    [row] = re.findall(re.escape(before) + r".*?</tr>", flat(html))[:1]
    return float(re.findall(r">(\d+\.\d)<", row)[place])


def on_results(study: Study, client: Client) -> Iterator[tuple[str, float]]:
    """Page, files, console and archive of the study."""
    page = reverse("annotation:study-results", args=[study.uid])
    yield "results page", shown(client.get(page).text, "pooled over insights", 4)
    yield "results JSON", 100 * json.loads(body(client, page + "figures.json"))["final"]["pooled"]["joint"]
    [row] = [one for one in table(client, page + "final.csv") if one["average"] == "pooled over insights"]
    yield "results CSV", float(row["joint"])
    [row] = [
        one
        for one in table(client, page + "figures.csv")
        if (one["part"], one["figure"]) == ("final", "joint") and one["row"].startswith("pooled")
    ]
    yield "results CSV, long", float(row["value"])
    [line] = [one for one in body(client, page + "final.tex").decode().splitlines() if one.startswith("pooled")]
    yield "results LaTeX", float(re.findall(r"& (\d+\.\d)", line)[-1])
    out = printed("results", "--study", study.name)
    [line] = [one for one in out.splitlines() if one.strip().startswith("pooled")]
    yield "results console", float(re.findall(r"\d+\.\d", line)[-1])
    if is_available():
        import pyarrow.parquet as pq

        rows = pq.read_table(io.BytesIO(body(client, page + "figures.parquet"))).to_pylist()
        [value] = [
            one["value"]
            for one in rows
            if (one["part"], one["figure"]) == ("final", "joint") and one["row"].startswith("pooled")
        ]
        assert isinstance(value, float)
        yield "results Parquet", value
    archive = zipfile.ZipFile(io.BytesIO(body(client, reverse("annotation:study-archive-file", args=[study.uid]))))
    [name] = [one for one in archive.namelist() if one.endswith("/figures.json")]
    yield "archive", 100 * json.loads(archive.read(name))["final"]["pooled"]["joint"]


def on_leaderboard(client: Client) -> Iterator[tuple[str, float]]:
    """Page, band, files, console, and the page that compares people with a system."""
    page = client.get(PAGE)
    [row] = [one for one in page.context["sheet"].table("rows").rows if one.is_people]
    yield "leaderboard table", float(row.number("joint"))
    yield "leaderboard page", shown(page.text, 'class="is-human"', 0)
    [chart] = [one for one in page.context["sheet"].charts if one.name == "board-chart"]
    yield "band", chart.rows[0]["value"]
    [of_people] = [one for one in client.get(f"{PAGE}files/leaderboard.json").json() if one["system"] == "people"]
    yield "leaderboard JSON", of_people["joint"]
    [csv_row] = [
        one
        for one in table(client, f"{PAGE}files/leaderboard.csv")
        if (one["system"], one["figure"]) == ("people", "joint")
    ]
    yield "leaderboard CSV", float(csv_row["value"])
    latex = body(client, f"{PAGE}files/leaderboard.latex").decode()
    yield "leaderboard LaTeX", float(re.search(r"people & oracle & (?:[^&]*&){2} (\d+\.\d)", latex)[1])
    [line] = [one for one in printed("leaderboard", *JUDGE, "--people", "--format", "markdown").splitlines()
              if one.startswith("| people")]  # fmt: skip
    yield "leaderboard console", float(line.split("|")[5])
    alone = client.get(row.url).context["sheet"].table("totals")
    yield "people alone", next(float(one.number("first")) for one in alone.rows if one.names == ("Joint",))
    [other] = [one for one in page.context["sheet"].table("time-to-score").rows if one.names[0] == "heron"]
    pair = client.get(other.url.partition("#")[0]).context["sheet"].table("alone")
    yield "compare page", next(float(one.number("second")) for one in pair.rows if one.names == ("Joint",))


def test_the_joint_score_of_the_same_people_is_one_number(people: Study, as_ada) -> None:
    found = dict([*on_results(people, as_ada), *on_leaderboard(as_ada)])
    exact = found["leaderboard JSON"]
    assert len(found) >= 16
    for where, value in found.items():
        assert value == pytest.approx(exact, abs=1e-9 if value != round(value, 1) else 0.051), where


def test_another_average_is_named_beside_it_and_both_lead_to_where_it_also_stands(people: Study, as_ada) -> None:
    page = as_ada.get(reverse("annotation:study-results", args=[people.uid]))
    rows = {row.names[0]: row for row in page.context["sheet"].table("final").rows}
    pooled, mean = rows["pooled over insights"], rows["mean over sessions"]
    assert pooled.number("joint") != pytest.approx(mean.number("joint")), "these are two averages"
    for row in (pooled, mean):
        board = as_ada.get(row.url).context["board"]
        assert 100 * board.people.row.stats["joint"].value == pytest.approx(row.number("joint"))
    last = page.context["sheet"].table("marks").rows[-1]
    assert last.number("joint") == pytest.approx(mean.number("joint")), "the end of the curve"
    note = next(
        part for part in as_ada.get(PAGE).context["sheet"].walk() if people.name in str(getattr(part, "text", ""))
    )
    assert as_ada.get(note.url).context["study"] == people


def test_what_writers_are_paid_is_one_sum(people: Study, ben, now: datetime) -> None:
    Study.objects.update(hourly_rate=Decimal(20))
    people.refresh_from_db()
    progress = progress_of(study=people, annotators=[ben.annotator])[ben.annotator.pk]
    person = Person(RecruitmentLink(study=people), "", {}, now, "", None, progress)
    sessions = ben.annotator.sessions.select_related("assignment__study")
    total = results.total_of(results.earnings_of(sessions, now))
    assert len(progress.paid_each) - 1 == total.n_sessions == 2
    assert person.amount == total.amount == Decimal("16.66"), "each session is rounded by itself"


def test_results_of_writing_have_one_address(people: Study, as_ada) -> None:
    for name in ("", "figures.json", "final.csv"):
        part = "-file" if name else ""
        given = [people.uid, name] if name else [people.uid]
        old, new = (reverse(f"annotation:study-{one}{part}", args=given) for one in ("figures", "results"))
        answer = as_ada.get(f"{old}?average=summary")
        assert (answer.status_code, answer.headers["Location"]) == (301, f"{new}?average=summary")
        assert as_ada.get(new).status_code == 200


def on_agreement(study: Study, client: Client) -> Iterator[tuple[str, float]]:
    """How often the same annotators agree, on the pages of agreement, in their files, on the console, at home."""
    page = reverse("annotation:study-figures", args=[study.uid])
    everywhere = f"{reverse('annotation:agreement')}?dataset=ferries"
    for name, address in (("study", page), ("all labels", everywhere)):
        shown_there = client.get(address)
        sheet = shown_there.context["sheet"]
        [card] = [
            one for part in sheet.walk() if isinstance(part, Cards) for one in part.cards if one.key == "percent"
        ]
        yield f"card, {name}", 100 * card.stat.value
        assert f"{100 * card.stat.value:.1f}" in flat(shown_there.text)
    files = reverse("annotation:agreement-file", args=["figures.json"]), "?dataset=ferries"
    for name, address in (("study", f"{page}figures.json"), ("all labels", "".join(files))):
        yield f"JSON, {name}", 100 * json.loads(body(client, address))["people"]["percent"]
    [row] = [
        one
        for one in table(client, f"{page}figures.csv")
        if (one["part"], one["figure"]) == ("agreement", "percent")
    ]
    yield "CSV", 100 * float(row["value"])
    yield "console", 100 * json.loads(printed("agreement", "--study", study.name, "--json"))["percent"]
    yield (
        "console, results",
        100 * json.loads(printed("results", "--study", study.name, "--json"))["people"]["percent"],
    )
    yield "list of what can be compared", 100 * kind_named(study.kind).headline(study).percent.value
    archive = zipfile.ZipFile(io.BytesIO(body(client, reverse("annotation:study-archive-file", args=[study.uid]))))
    [name] = [one for one in archive.namelist() if one.endswith("/figures.json")]
    yield "archive", 100 * json.loads(archive.read(name))["people"]["percent"]


def test_the_agreement_of_the_same_people_is_one_number(ada, as_ada) -> None:
    seen = dict(on_agreement(make_labelled_study(summaries=make_summaries(), researcher=ada), as_ada))
    exact = seen["JSON, study"]
    assert len(seen) == 9
    assert 0 < exact < 100
    for where, value in seen.items():
        assert value == pytest.approx(exact, abs=1e-9), where


def test_a_mean_over_fewer_summaries_says_so_and_leads_to_the_leaderboard(ada, as_ada) -> None:
    study = make_labelled_study(summaries=make_summaries(), researcher=ada)
    of_alpha = Summary.objects.filter(system__summarizer="alpha").values("pk")[:2]
    Verdict.objects.filter(judge__name="strict", summary__in=list(of_alpha.values_list("pk", flat=True))).delete()
    sheet = as_ada.get(reverse("annotation:study-figures", args=[study.uid])).context["sheet"]
    [alpha] = [row for row in sheet.table("ranking").rows if row.names == ("alpha",)]
    judges = {one.title: one.key for one in sheet.table("ranking").measures}
    assert alpha.number("n") == 6
    assert alpha.values[judges["strict"]].aside == "n = 4"
    assert alpha.values[judges["kind"]].aside == ""
    assert [part.url for part in sheet.walk() if getattr(part, "url", "") == PAGE]
