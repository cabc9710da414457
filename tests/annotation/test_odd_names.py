"""Names may hold dollar signs, other alphabets and odd characters: charts and lists of judges stand it."""

from xml.etree import ElementTree

import pytest
from django.urls import reverse

from annotation.models import Annotator
from annotation.writing import scoring
from benchmarks.engine import versions
from benchmarks.models import Judge, Verdict
from benchmarks.results import drawings
from benchmarks.results.drawings import FILE, WRITERS, FileLook
from benchmarks.results.sheet import Fragment
from benchmarks.web.charts import Chart, Lines, Point, Words
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.makers import make_assignment, make_session, make_writing_study

ODD = (r"$\bad$", r"a $ b $ c", "_hidden", "line\nbreak\x07", "Ärger 渡船 عبّارة", "<b>&--</b>", "a\"b'c\\")


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("ending", WRITERS)
def test_a_chart_draws_any_name(name: str, ending: str) -> None:
    drawn = FILE.compute(FileLook(chart_of(name), ending)).content
    if ending == "svg":
        ElementTree.fromstring(drawn)  # noqa: S314 - drawn here


def chart_of(name: str) -> Chart:
    words = Words(name="odd", title=name, subtitle=name, value=name, x=name)
    points = [
        Point(series=f"<b>{name}", value=0.2 * at, x=at, panel=panel) for at in (0, 1) for panel in ("", name)
    ]
    unit = (0.0, 1.0)
    return Chart(words, points, Lines(x_domain=unit, domain=unit, panels_beside=2, x_values=(0,), x_names=(name,)))


@pytest.mark.parametrize("name", ODD)
def test_a_chart_in_a_page_shows_any_name_as_text_and_has_no_style_of_its_own(name: str) -> None:
    drawn = drawings._draw(chart_of(name)).svg
    assert drawn.startswith('<svg class="drawing')
    assert not [markup for markup in ("<b>", "<i>", " style=", "<style") if markup in drawn]
    assert drawings._draw(chart_of(name)).svg == drawn


def test_downloads_of_charts_stand_names_with_dollar_signs(ada, as_ada) -> None:
    study = make_labelled_study(summaries=make_summaries(), judges=(r"$\bad$", "kind"), researcher=ada)
    Annotator.objects.filter(label="anna").update(label=r"$\worse$")
    for name in ("forest.svg", "scatter.png", "difference.pdf"):
        address = reverse("annotation:study-figures-file", args=[study.uid, name])
        assert as_ada.get(address).status_code == 200, name


def test_a_list_of_judges_holds_only_those_with_verdicts_on_what_is_shown(ada, as_ada, ben) -> None:
    study = make_labelled_study(summaries=make_summaries(), judges=("everywhere", "alpha only"), researcher=ada)
    Verdict.objects.filter(judge__name="alpha only").exclude(summary__system__summarizer="alpha").delete()
    address = reverse("annotation:study-figures", args=[study.uid])

    def offered(query: str = "") -> list[str]:
        sheet = as_ada.get(f"{address}?view=bias&{query}").context["sheet"]
        choices = [part.context for part in sheet.walk() if isinstance(part, Fragment) and "name" in part.context]
        judges = [choice["options"] for choice in choices if choice["name"] == "judge"]
        return [name for _key, name in judges[0]] if judges else []

    assert offered() == ["alpha only", "everywhere"]
    assert offered("summarizer=beta") == [], "there is nothing to choose from"


def test_results_of_a_study_offer_judges_that_judged_its_texts(ada, as_ada, ben, now) -> None:
    task = make_assignment(study=make_writing_study(researcher=ada), annotator=ben, state="done")
    session = make_session(assignment=task, state="submitted", revisions=[(1000, "- Boats. [1]")])
    session.snapshots.create(mark_ms=1000, kind="final", text="- Boats. [1]", filled_by="submit", created_at=now)
    scoring.score_snapshots(now=now)
    silent, heard = (
        Judge.objects.create(name=name, kind="imported", config_sha256=name, created_at=now)
        for name in ("silent", "heard")
    )
    text = session.snapshots.get().summary
    insight = text.subtopic.insights.first()
    Verdict.objects.create(
        judge=heard, summary=text, insight=insight, coverage="none", is_linked=False, created_at=now
    )
    page = as_ada.get(reverse("annotation:study-results", args=[task.study.uid]))
    names = [str(label) for _value, label in page.context["form"].fields["judge"].choices]
    assert names == sorted([versions.default_judge(now=now).name, "heard"])
    assert silent.name not in names
    assert "---------" not in page.text
