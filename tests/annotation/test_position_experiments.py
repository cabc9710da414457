"""Experiments of position from the command to the page: what is shown, what is asked, and what it scored."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client
from django.utils import timezone

from annotation.leaderboard import positions
from benchmarks.engine import summarizing, versions
from benchmarks.engine.arranging import Arranged, InTurn, relevant_in
from benchmarks.models import (
    Document,
    Draft,
    Haystack,
    Insight,
    Judge,
    JudgeRun,
    Subtopic,
    Summarizer,
    Summary,
    SummaryRating,
)
from benchmarks.results.sheet import Cards
from benchmarks.summarizers import documents as token_budget
from benchmarks.summarizers.arrangements import HEADERS, MEASURES, Arrangement, only_relevant
from benchmarks.summarizers.config import SummarizerConfig
from tests.conftest import make_user
from tests.fake_openai import MODEL, Answer, FakeServer
from tests.running import json_of
from tests.taking_in import import_sources

pytestmark = pytest.mark.django_db
PAGE = "/leaderboard/position/experiments/"
N_SOURCES, K = 6, 3


def take(now: datetime, *lines: dict[str, Any]) -> None:
    import_sources(lines, now=now, dataset="news")


def source(number: int, *, n_documents: int = K) -> dict[str, Any]:
    """Documents of two sentences each; the reference says what the second of them says."""
    documents = [
        f"Item{number} part{one} alpha{number}. It says beta{number}x{one}." for one in range(n_documents)
    ]
    at = min(1, n_documents - 1)
    return {"key": str(number), "documents": documents, "reference": f"It says beta{number}x{at} alpha{number}."}


@pytest.fixture
def _sources(now: datetime) -> None:
    take(now, *(source(number) for number in range(N_SOURCES)))


def heron(server: FakeServer, **values) -> Judge:
    config = SummarizerConfig.from_mapping({"base_url": server.address, "model": MODEL, **values})
    return versions.save_model(name="heron", config=config, by=None, now=timezone.now())


def summarize(*arguments: str, name: str = "heron") -> dict[str, Any]:
    return json_of("summarize", "--system", name, "--haystack", "news", *arguments)


def report() -> list[dict[str, Any]]:
    return json_of("report", "experiments", "--haystack", "news")


def shown_to(order: str) -> list[Draft]:
    return list(Draft.objects.filter(system__document_order=order).order_by("subtopic"))


RELEVANT, IRRELEVANT = HEADERS[""]


def reader(request: dict[str, Any], *, attentive: Sequence[int]) -> Answer:
    """Copies the relevant document where it stands at a place that is read, else the first one."""
    texts = [part for part in request["messages"][-1]["content"].split("\n\n") if part.startswith("[TO")]
    place = next(at for at, text in enumerate(texts, 1) if text.startswith((RELEVANT, "[RELEVANT]")))
    return Answer(texts[place - 1 if place in attentive else 0].split("\n", 1)[1])


@pytest.mark.usefixtures("_sources")
def test_a_command_makes_a_model_summarizer_with_the_headers_of_the_paper(server: FakeServer) -> None:
    server.behaviour = lambda _n, request: Answer("One sentence.")
    made = ("--model", MODEL, "--set", "headers=paper", "--set", "temperature=0")
    assert summarize(*made, "--order", f"at-2-of-{K}", name="stork")["system"] == "stork"
    asked = server.bodies[0]["messages"][-1]["content"]
    assert asked.count("[RELEVANT]\n") + asked.count("[RELEVANT] ") >= 1
    assert asked.count("[IRRELEVANT]\n") == K - 1
    assert "Summarize only the document under [RELEVANT]" in asked
    assert "[TO " not in asked
    assert server.bodies[0]["temperature"] == 0
    summarize(*made, "--order", f"at-2-of-{K}", name="stork")
    summarizer = Summarizer.objects.get(name="stork")
    assert (summarizer.version, summarizer.config["headers"]) == (1, "paper")
    assert summarize(*made, "--set", "headers=", "--order", f"at-2-of-{K}", name="stork")["system"] == "stork v2"
    assert "headers" not in Summarizer.objects.get(name="stork", version=2).config


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--model", MODEL, "--set", "headers=none"), "headers: one of paper"),
        (("--model", MODEL, "--set", "wings=2"), "unknown: wings"),
        (("--model", MODEL, "--base-url", "https://elsewhere.example/v1"), "is not allowed"),
        (("--model", MODEL, "--set", "temperature=hot"), "temperature is a number"),
        (("--set", "temperature=0"), "are of a summarizer that --model makes"),
    ],
)
@pytest.mark.usefixtures("_sources")
def test_a_summarizer_that_cannot_be_made_is_refused(
    server: FakeServer, arguments: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        summarize(*arguments, name="stork")
    assert not Summarizer.objects.exists()


@pytest.mark.usefixtures("_sources")
def test_the_relevant_document_stands_at_its_place_among_those_of_one_other_source() -> None:
    subtopics = list(Subtopic.objects.select_related("haystack"))
    judge = versions.extractive(now=timezone.now())
    for place in (1, 2, 3):
        arranged = Arranged(order=Arrangement("at", K, place).name)
        summarizing.drafted(judge=judge, subjects=subtopics, shown=arranged, now=timezone.now())
    first, second, third = (shown_to(f"at-{place}-of-3") for place in (1, 2, 3))
    for draft, middle, last in zip(first, second, third, strict=True):
        assert draft.relevant == 2  # the document that the reference is about
        assert draft.documents == [2, 4, 5]
        assert middle.documents == [4, 2, 5]
        assert last.documents == [4, 5, 2]
        assert draft.others == middle.others == last.others
        owners = set(Document.objects.filter(pk__in=draft.others.values()).values_list("haystack", flat=True))
        assert len(owners) == 1
        assert draft.subtopic.haystack_id not in owners


@pytest.mark.usefixtures("_sources")
def test_a_model_that_reads_only_the_ends_scores_lowest_in_the_middle(server: FakeServer) -> None:
    heron(server)
    server.behaviour = lambda _n, request: reader(request, attentive=(1, K))
    estimate = summarize("--order", f"position-of-{K}", "--estimate")
    assert (estimate["summaries"], estimate["requests"]) == (K * N_SOURCES, K * N_SOURCES)
    done = summarize("--order", f"position-of-{K}")
    assert (done["summaries"], done["written"], done["failed"]) == (K * N_SOURCES, K * N_SOURCES, 0)
    assert JudgeRun.objects.get().scope["retrievers"] == [f"fl-ctxt-at-{place}-of-{K}" for place in (1, 2, 3)]
    assert summarize("--order", f"position-of-{K}")["there_before"] == K * N_SOURCES
    assert all(only_relevant("") in one["messages"][-1]["content"] for one in server.bodies)
    assert all(one["messages"][-1]["content"].count(f"{IRRELEVANT}\n") == K - 1 for one in server.bodies)
    (found,) = report()
    assert (found["system"], found["experiment"], found["n"], found["n_left_out"]) == ("heron", "position", 6, 0)
    names = [arm["name"] for arm in found["arrangements"]]
    first, middle, last = (arm["rouge1"] for arm in found["arrangements"])
    assert names == ["at-1-of-3", "at-2-of-3", "at-3-of-3"]
    assert first == last > 0.5 > middle
    assert middle == pytest.approx(found["by_chance"]["rouge1"], abs=0.2)
    assert summarize("--order", "at-1-of-3")["there_before"] == N_SOURCES
    owl = Judge.objects.create(name="owl", kind="openai", config_sha256="owl", created_at=timezone.now())
    for text in Summary.objects.select_related("system"):
        value = 2 if text.system.document_order == "at-2-of-3" else 5
        SummaryRating.objects.create(
            judge=owl, summary=text, aspect="informativeness", value=value, created_at=timezone.now()
        )
    (found,) = report()
    assert [arm["informativeness (owl)"] for arm in found["arrangements"]] == [5.0, 2.0, 5.0]
    page = Client()
    page.force_login(make_user("ada", "researcher"))
    shown = page.get(PAGE)
    assert "matters most to heron: ROUGE-1 is" in shown.text
    assert found["is_apart"] is True
    assert "at 2; the difference is significant." in shown.text
    cards = next(part for part in shown.context["sheet"].parts if isinstance(part, Cards)).cards
    assert [card.title for card in cards] == ["heron, relevant at 1", "heron, relevant at 2", "heron, by chance"]
    chart, of_ratings = shown.context["sheet"].charts
    assert [row["value"] for row in of_ratings.rows] == [5.0, 2.0, 5.0]
    panels = [*dict.fromkeys(row["panel"] for row in chart.rows)]
    assert (chart.name, panels) == ("places-3", ["heron · ROUGE-1", "heron · ROUGE-2", "heron · ROUGE-L"])
    in_first = [row for row in chart.rows if row["panel"] == panels[0]]
    assert [row["value"] for row in in_first if row["series"] == "scores"] == [first, middle, last]
    assert [row["value"] for row in in_first if row["series"] == "by chance"] == [found["by_chance"]["rouge1"]] * K
    assert shown.context["sheet"].table("position-scores").rows[0].names == ("heron", "relevant at 1")
    assert page.get(f"{PAGE}files/experiments.json").json() == [found]
    assert page.get(f"{PAGE}files/places-3.svg")["Content-Type"] == "image/svg+xml"
    assert page.get(f"{PAGE}files/places-9.svg").status_code == 404
    assert page.get(f"{PAGE}?dataset=odd").status_code == 200


@pytest.mark.usefixtures("_sources")
def test_infilling_beside_all_documents(now: datetime) -> None:
    take(now, source(99, n_documents=2))
    for order in ("all", "ends", "filled"):
        assert summarize("--order", f"{order}-of-{K}", name="extractive")["summaries"] == N_SOURCES
    assert {tuple(draft.documents) for draft in shown_to("all-of-3")} == {(1, 2, 3)}
    assert {tuple(draft.documents) for draft in shown_to("ends-of-3")} == {(1, 3)}
    assert {tuple(draft.documents) for draft in shown_to("filled-of-3")} == {(1, 4, 3)}
    assert not Draft.objects.exclude(relevant=None).exists()
    with pytest.raises(CommandError, match="There is no experiment here"):
        report()  # sentences of four words are too short for the offline baseline


@pytest.mark.usefixtures("_sources")
def test_shares_of_what_all_documents_score(server: FakeServer) -> None:
    heron(server)
    server.behaviour = lambda _n, request: Answer(
        "- "
        + " ".join(part for part in request["messages"][-1]["content"].split() if "x1." in part)
        + " It says [1]"
    )
    for order in ("all", "ends", "filled"):
        summarize("--order", f"{order}-of-{K}")
    (found,) = report()
    arms = {arm["name"]: arm for arm in found["arrangements"]}
    assert arms["all-of-3"]["relative"] == pytest.approx(1.0)
    # “beta0x1 it says” beside “it says”: ROUGE-1 6/7 and 4/6, ROUGE-2 2/5 and 2/4, ROUGE-L 4/7 and 4/6
    assert arms["ends-of-3"]["relative"] == pytest.approx((7 / 9 + 5 / 4 + 7 / 6) / 3)
    assert found["by_chance"] == {"intervals": {}, "reasons": {}}


@pytest.mark.needs("papers")
@pytest.mark.usefixtures("_sources")
def test_more_documents_and_more_tokens_are_run_at_once_with_their_curves(server: FakeServer, as_ada) -> None:
    heron(server)
    server.behaviour = lambda _n, request: Answer(
        " ".join(part for part in request["messages"][-1]["content"].split() if part.startswith("beta"))
        or "Nothing.",
        usage=None,  # else it would count too few tokens, as a server does that cuts prompts
    )
    done = summarize("--order", f"documents-of-{K}")
    assert (done["summaries"], done["failed"]) == (K * N_SOURCES, 0)
    assert [tuple(draft.documents) for draft in shown_to("first-2-of-3")] == [(1, 2)] * N_SOURCES
    Document.objects.filter(number=1).update(text="Filling. " * 1_700 + "It says beta0x1.", n_words=1_703)
    cut = summarize("--order", "truncation-of-2")
    assert (cut["summaries"], cut["cut_by"]) == (2 * N_SOURCES, token_budget.WORDS)
    until = shown_to("upto-2048")[0]
    assert (until.documents, until.cut["words"]) == ([1], 1_638)
    assert shown_to("upto-4096")[0].documents == [1, 2, 3]
    documents, truncation = report()
    assert (documents["experiment"], truncation["experiment"]) == ("documents", "truncation")
    one, two, three = (arm["rouge1"] for arm in documents["arrangements"])
    assert one < two > three  # the second document says what the reference says, the third something else
    assert [arm["name"] for arm in truncation["arrangements"]] == ["upto-2048", "upto-4096"]
    assert truncation["arrangements"][0]["rouge1"] == 0.0
    (figure,) = json_of("reproduce", "middlesum", "--figure", "6")["parts"]
    assert [(cell["column"], cell["ours"]) for cell in figure["cells"]] == [
        (arm["name"], pytest.approx(100 * arm["rouge2"])) for arm in truncation["arrangements"]
    ]
    sheet = as_ada.get(PAGE).context["sheet"]
    curves = {chart.name: chart for chart in sheet.charts}
    assert list(curves) == ["documents", "truncation"]
    assert [row["place"] for row in curves["truncation"].rows][:2] == ["2,048", "4,096"]
    assert [row.names[1] for row in sheet.table("documents-scores").rows] == ["first 1", "first 2", "first 3"]


def test_the_relevant_document_is_chosen_by_a_measure_or_by_the_file(now: datetime) -> None:
    texts = ["alpha beta gamma delta", "gamma beta alpha delta epsilon", "zeta"]
    documents = [{"text": text, "relevance": at} for at, text in enumerate(texts)]
    take(
        now,
        {"key": "a", "documents": documents, "reference": "gamma beta delta alpha."},
        *map(source, range(2, 6)),
    )
    subtopics = list(Subtopic.objects.filter(haystack__title="a").select_related("haystack"))
    found = {by: relevant_in(subtopics, by)[subtopics[0].pk] for by in MEASURES}
    assert found == {"rouge1": 1, "rouge2": 2, "rougeL": 2, "imported": 3}
    judge = versions.extractive(now=timezone.now())
    for draft in summarizing.drafted(
        judge=judge, subjects=subtopics, shown=InTurn(order="position-of-3-by-imported"), now=timezone.now()
    ):
        assert draft.relevant == 3
    assert Draft.objects.filter(system__document_order="at-2-of-3-by-imported").count() == 1
    with pytest.raises(CommandError, match="does not say how relevant"):
        summarize("--order", "at-1-of-3-by-imported", name="extractive")


@pytest.mark.usefixtures("_sources")
def test_scores_are_computed_anew_when_a_reference_changes(server: FakeServer) -> None:
    heron(server)
    server.behaviour = lambda _n, request: Answer("- Nothing of the kind [2].")
    summarize("--order", "at-1-of-3")
    assert [arm["rouge1"] for arm in report()[0]["arrangements"]] == [0.0]
    Insight.objects.filter(subtopic__haystack__title="0").update(text="Nothing of the kind.")
    assert [arm["rouge1"] for arm in report()[0]["arrangements"]] == [pytest.approx(1 / N_SOURCES)]


@pytest.mark.usefixtures("_sources")
def test_summaries_of_experiments_are_no_part_of_other_figures(server: FakeServer) -> None:
    heron(server)
    server.behaviour = lambda _n, request: Answer("- It says a thing [1].")
    summarize("--order", "at-2-of-3")
    assert positions.place_missing() == 0
    assert Summary.objects.count() == N_SOURCES


@pytest.mark.usefixtures("_sources")
def test_what_cannot_be_arranged_is_refused() -> None:
    with pytest.raises(CommandError, match="No source here can be shown as filled-of-5"):
        summarize("--order", "filled-of-5", name="extractive")
    with pytest.raises(CommandError, match="have only 15 documents; at-1-of-20 needs more"):
        summarize("--order", "at-1-of-20", name="extractive")
    with pytest.raises(CommandError, match="no arrangement like"):
        summarize("--order", "outside", name="extractive")
    with pytest.raises(CommandError, match="No source here can be shown as all-of-5"):
        summarize("--order", "infilling-of-5", name="extractive")
    Haystack.objects.update(is_source=False)
    with pytest.raises(CommandError, match="No source here"):
        summarize("--order", "at-1-of-3", name="extractive")


@pytest.mark.usefixtures("_sources")
def test_an_arrangement_is_run_from_the_browser() -> None:
    judge = versions.extractive(now=timezone.now())
    client = Client()
    client.force_login(make_user("ada", "researcher"))
    url = f"/summarizers/{judge.uid}/"
    asked = {"sources": "news", "order": "at", "size": "3", "place": "2"}
    estimate = client.get(url, asked)
    assert (estimate.status_code, estimate.context["n_waiting"]) == (200, N_SOURCES)
    assert client.get(url, asked | {"place": "4"}).status_code == 422
    assert (
        "No source here can be shown as ends-of-5" in client.get(url, asked | {"order": "ends", "size": "5"}).text
    )
    assert client.post(f"{url}run/", asked).status_code == 302
    assert {tuple(draft.documents) for draft in shown_to("at-2-of-3")} == {(4, 2, 5)}
    client.post(f"{url}run/", asked | {"order": "random"})
    assert len(shown_to("")) == N_SOURCES
    infilling = asked | {"order": "infilling"}
    assert client.get(url, infilling).context["n_waiting"] == 3 * N_SOURCES
    client.post(f"{url}run/", infilling)
    assert [len(shown_to(f"{kind}-of-3")) for kind in ("all", "ends", "filled")] == [N_SOURCES] * 3
    Haystack.objects.update(is_source=False)
    assert "id_sources_order" not in client.get(url).text
