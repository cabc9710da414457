"""What any format leaves out, who gets it, and where it is offered."""

import pytest
from django.core.management import CommandError
from django.urls import reverse

from annotation.models import Exposure, Study
from benchmarks.models import AuditEvent, Insight
from extensions.exchange.formats import FORMATS
from tests.conftest import make_user
from tests.exchange.conftest import NAMES, opened
from tests.makers import flat, make_writing_study

BOARD = ("--judge", "lexical-2", "--people")
STUDY = ("--study", "Ferries")
WITHOUT_TEXTS = {"metr", "datasets"}
"""The latter has them in columns of Parquet, see there."""
PLAIN = "every day the ferry leaves at six in the morning [1, 2]"
"""A part of a text of people and systems that no insight has."""


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("of", [STUDY, BOARD], ids=["study", "board"])
def test_texts_and_insights_are_in_it_only_if_asked_for_and_people_are_pseudonyms(
    study: Study, files, name: str, of
) -> None:
    insight = Insight.objects.order_by("pk").first()
    has_texts = name not in WITHOUT_TEXTS
    for flags in ([], ["--texts"], ["--insights"]) if name != "datasets" else ([], ["--insights"]):
        told = b"\n".join(files(name, *of, *flags).values()).decode(errors="replace")
        assert (PLAIN in told) == (has_texts and "--texts" in flags)
        assert (insight.text in told) == (has_texts and "--insights" in flags)
        assert "prompts of judges" in told
        assert not [person for person in NAMES if person in told]


def test_the_page_gives_the_same_files_and_says_who_saw_insights(study: Study, ada, as_ada) -> None:
    assert "Inspect" in flat(as_ada.get(reverse("exchange:study", args=[study.uid])).text)
    address = reverse("exchange:study-file", args=[study.uid])
    answer = as_ada.get(address, {"format": "inspect", "insights": "on", "licence": "CC BY 4.0"})
    assert answer["Content-Type"] == "application/zip"
    assert "ferries-inspect.zip" in answer["Content-Disposition"]
    assert b"Licence: CC BY 4.0" in opened(answer.getvalue())["README.md"]
    assert Exposure.objects.filter(user=ada).exists()
    assert AuditEvent.objects.filter(action="file.downloaded", object_uid=str(study.uid)).exists()
    assert as_ada.get(address, {"format": "<script>"}).status_code == 422
    assert as_ada.get(address).status_code == 422


def test_the_board_on_its_page_is_the_board_in_the_file(study: Study, as_ada) -> None:
    board = as_ada.get("/leaderboard/", {"judge": "lexical-2", "average": "summary"})
    assert f"{reverse('exchange:leaderboard')}?judge=lexical-2&amp;average=summary" in board.text
    page = as_ada.get(reverse("exchange:leaderboard"), {"average": "summary"}).text
    assert '<input type="hidden" name="average" value="summary">' in page
    answer = as_ada.get(reverse("exchange:leaderboard-file"), {"format": "inspect"})
    assert sum(name.startswith("logs/") for name in opened(answer.getvalue())) == 4


def test_strangers_get_no_file_and_studies_without_work_say_so(study: Study, ada, as_ada, login) -> None:
    address = reverse("exchange:study-file", args=[study.uid])
    assert login(make_user("dot", "researcher")).get(address, {"format": "inspect"}).status_code == 404
    assert login(make_user("ben", "annotator")).get(address, {"format": "inspect"}).status_code == 403
    empty = make_writing_study(
        researcher=ada, name="Nothing yet", haystack=study.writing_plan.subtopics.first().haystack
    )
    answer = as_ada.get(reverse("exchange:study-file", args=[empty.uid]), {"format": "inspect"})
    assert answer.status_code == 422
    assert "Nothing is scored or labelled here yet" in answer.text


def test_the_command_refuses_what_cannot_be_written(study: Study, files) -> None:
    study.kind = Study.Kind.RATING
    Study.objects.filter(pk=study.pk).update(kind=Study.Kind.RATING)
    with pytest.raises(CommandError, match="can be written for"):
        files("inspect", "--study", "Ferries")
    with pytest.raises(CommandError, match="no study"):
        files("inspect", "--study", "none such")
