"""Every page, file and report of results, of every kind of study and of benchmarks, with hardly anything to show.

The addresses come from the URL configuration and from the links of the pages, so a page that comes later is opened
here without a word.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from django.contrib.admindocs.views import extract_views_from_urlpatterns
from django.core.management import CommandError
from django.db import transaction
from django.http import QueryDict
from django.test import Client
from django.urls import get_resolver, reverse

from annotation import kinds
from annotation.management.commands.report import REPORTS
from annotation.models import Study
from tests.annotation.little import ALL, AMOUNTS, MAKERS, NOTHING, ONE_LABEL, make_benchmarks
from tests.by_day import some
from tests.running import output_of

pytestmark = pytest.mark.django_db

ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
LINK = re.compile(r'(?:href|hx-get)="([^"#]*)')
DOWNLOAD = re.compile(r'<form class="row" method="get" action="(\S+/file)"(.*?)</form>', re.DOTALL)
HIDDEN, OPTION = (
    re.compile(r'<input type="hidden" name="(.*?)" value="(.*?)">'),
    re.compile(r'<option value="(.*?)"'),
)
NO_RESULTS = re.compile(r"/(preview|annotators|guidelines|settings|clone|delete|remind|recruitment)/")
BY_LINK = ("remark-reply", "study-group", "study-progress")
"""Names of addresses that only pages which link to them have something for: answers, groups, the last 14 days."""
SAME_AGAIN = re.compile(r"\.(png|pdf|vl\.json|parquet|jsonl|tex)$")
"""Files with what others hold as well, and which take long to make."""
OF_SHEET = re.compile(r"/(figures|(agreement|choosing|autods|plan|approvals|learning)/files)/")
"""Files whose names are the keys of the tables of a sheet."""
OF_TABLE = ("-sort", "-columns")
"""Ends of the names in a query that say how one table of a page is shown."""
TRIED = some(AMOUNTS, NOTHING, ONE_LABEL, ALL)
AT_NIGHT = bool(os.environ.get("TEST_EVERYTHING"))
"""By day links that sort and filter are followed for benchmarks and one kind of study, with enough to show."""

JUDGES = re.compile(r"(?<![\w-])(?<!run_judge )(owl|jay|strict|lexical)(?![\w-])")


def charts(*names: str) -> tuple[str, ...]:
    """Two files of each chart."""
    return tuple(f"{name}.{ending}" for name in names for ending in ("svg", "csv"))


TABLES = ("figures.json", "figures.csv")
FILES = {
    "study-plan-file": TABLES,
    "study-learning-file": TABLES,
    "study-approvals-file": TABLES,
    "leaderboard-compared-file": TABLES,
    "leaderboard-figures": TABLES,
    "source-scores-file": TABLES,
    "study-figures-file": ("figures.json", "figures.csv", *charts("forest", "scatter", "difference")),
    "verification-choosing-file": ("figures.json", "figures.csv"),
    "verification-autods-file": ("figures.json", "figures.csv", *charts("histogram", "cdf", "rates")),
    "verification-dataset-file": ("all.csv", "kept.csv", "dataset.jsonl", "manifest.json"),
    "rating-file-moved": ("figures.json",),
    "study-file": (
        *("manifest.json", "sessions.csv", "snapshots.jsonl", "curve.csv", "periods.csv", "credits.csv"),
        *("events.jsonl", "late_texts.jsonl", "as_typed.jsonl", "revisions.jsonl.gz"),
    ),
    "study-results-file": (
        *("figures.json", "figures.csv", "final.csv", "final.tex", "marks.csv", "sessions.csv"),
        *charts("curves"),
    ),
    "leaderboard-file": ("csv", "json", "latex", "markdown"),
    "leaderboard-chart": charts("board-chart"),
    "content-positions-file": (
        *("position.json", "figures.json", "figures.csv", "all-rows.csv", "all-rows.tex"),
        *charts("pairs", "sentences"),
    ),
    "position-experiments-file": (
        *("experiments.json", "figures.json", "figures.csv", "position-scores.csv", "position-scores.tex"),
        *charts("places-3"),
    ),
    "recall-file": (
        *("recall.json", "recall.csv", "systems.csv", "responses.csv"),
        *("figures.json", "figures.csv", "by-system.csv", "by-system.tex", "all-domain.csv"),
        *charts("lengths"),
    ),
}
"""Files by the name of their address: opened even where no page links to them."""


def routes(under: str) -> Iterator[tuple[str, str]]:
    """Every route of the URL configuration below another that is of results, and its name."""
    for _view, route, _namespace, name in extract_views_from_urlpatterns(get_resolver().url_patterns):
        address = f"/{route}"
        if address.startswith(under) and not NO_RESULTS.search(address) and name and name not in BY_LINK:
            yield address, name


def addresses_of(study: Study) -> Iterator[tuple[str, str]]:
    """Every address below that of a study with what belongs to the study in it, and its name."""
    item = study.label_items.order_by("pk").first()
    summary, point = (item.summary, item.key_point) if item else (None, None)
    judged = summary or point or study
    values = {
        "file_format": "csv",
        "kind": "csv",
        "number": getattr(study.spot_checks.first(), "pk", 1),
        "first": judged.uid,
        "second": summary.subtopic.insights.first().uid if summary and summary.subtopic else study.uid,
        "point": judged.uid,
    }
    for route, name in routes("/studies/<uuid:uid>/"):
        for file in FILES[name] if "<str:name>" in route else ("",):
            values["name"] = file
            yield ARGUMENT.sub(lambda part: str(values.get(part[1], study.uid)), route), name


def opened(client: Client, address: str):
    """The answer, read to its end: a file is only made while it is sent."""
    answer = client.get(address)
    answer.whole = answer.getvalue()
    assert answer.status_code < 500, address
    return answer


def names_judges_without_approvals(answer, path: str) -> bool:
    """Whether figures in a file name a judge, and nothing says whether it may stand in for people."""
    if answer.status_code != 200 or not path.endswith(("figures.json", "figures.csv")) or "/approvals/" in path:
        return False
    text = answer.whole.decode()
    return bool(JUDGES.search(text)) and not text.startswith("[") and "judge_approvals" not in text


def links(answer, address: str) -> Iterator[str]:
    """The addresses that an answer leads to."""
    if answer.status_code == 302:
        yield urljoin(address, answer.url)
    elif answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/html"):
        html = answer.content.decode()
        for link in LINK.findall(html):
            yield urljoin(address, unescape(link))
        for action, fields in DOWNLOAD.findall(html):
            kept = [(unescape(name), unescape(value)) for name, value in HIDDEN.findall(fields)]
            for file in OPTION.findall(fields):
                query = f"?{urlencode(kept)}" if kept else ""
                yield urljoin(address, action.removesuffix("file") + unescape(file) + query)


def at_once(addresses: Iterable[str]) -> Iterator[str]:
    """The addresses; those of a page that each show one of its tables otherwise are one that shows all so."""
    tables: dict[str, dict[str, str]] = {}
    for address in addresses:
        parts = dict(parse_qsl(urlsplit(address).query))
        if parts and all(name.endswith(OF_TABLE) for name in parts):
            tables.setdefault(urlsplit(address).path, {}).update(parts)
        else:
            yield address
    for path, parts in tables.items():
        yield f"{path}?{urlencode(parts)}"


@dataclass
class Walk:
    """Which paths were shown, to which a page led, and addresses with nothing behind them to which one led."""

    shown: set[str] = field(default_factory=set)
    linked: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)


def walked(client: Client, starts: Iterable[str], *, under: tuple[str, ...], in_every_way: bool) -> Walk:
    """Open these addresses, and what one comes to from them by links, as far as it lies under some paths.

    What differs only in the values of its query, or in how it combines them, is opened once; so is a file that
    differs only in how tables beside its own are sorted. All tables of a page are sorted at once. If not
    `in_every_way`, what links lead to is opened once, whatever its query.
    """
    walk = Walk()
    known: set[tuple[str, str]] = set()

    def go(address: str) -> Iterable[str]:
        answer = opened(client, address)
        path = urlsplit(address).path
        assert not names_judges_without_approvals(answer, path), address
        if answer.status_code in {200, 302}:
            walk.shown.add(path)
        elif path in walk.linked:
            walk.broken.add(address)
        return at_once(links(answer, address))

    waiting: list[str] = []
    for address in starts:
        waiting += go(address)
        parts = urlsplit(address)
        if parts.path in walk.shown:
            known |= {(parts.path, name) for name in ("", *QueryDict(parts.query))}
    while waiting:
        address = waiting.pop()
        path, query = urlsplit(address).path, QueryDict(urlsplit(address).query)
        if not path.startswith(under) or NO_RESULTS.search(path) or SAME_AGAIN.search(path):
            continue
        walk.linked.add(path)
        table, _dot, is_file = path.rpartition("/")[2].partition(".")
        names = (name for name in query if not (is_file and name.endswith("-sort") and name != f"{table}-sort"))
        new = {(path, name) for name in ("", *(names if in_every_way else ()))} - known
        if new:
            known |= new
            waiting += go(address)
    walk.broken |= walk.linked - walk.shown
    return walk


@pytest.mark.parametrize("amount", TRIED)
@pytest.mark.parametrize("kind", MAKERS)
def test_every_page_and_file_of_a_study_opens(kind: str, amount: str, ada, as_ada, ben, cleo) -> None:
    study = MAKERS[kind](amount, ada, (ben, cleo))
    work = kinds.kind_named(study.kind)
    pages = [reverse(name, args=[study.uid]) for name in (work.study_page, *(tab.page for tab in work.all_tabs))]
    pages += ["/agreement/", "/agreement/latest/"]
    addresses = [address for address, _name in addresses_of(study)]
    under = (f"/studies/{study.uid}/", "/agreement/", "/sessions/")
    in_every_way = AT_NIGHT or (kind, amount) == ("linking", ALL)
    walk = walked(as_ada, dict.fromkeys(addresses + pages), under=under, in_every_way=in_every_way)
    assert walk.broken == set()
    assert set(pages) - walk.shown == set()
    files = {path.rpartition("/")[2] for path in walk.linked if "/files/" in path and not OF_SHEET.search(path)}
    files -= {name for name in files if name.startswith("plan-")}  # a chart for each headline that has a plan
    assert files <= {name for names in FILES.values() for name in names}, "name them in FILES"
    # Every report on a study is printed or refused
    for name in REPORTS:
        reported(name, "--study", study.name)
        reported(name, "--study", study.name, "--json")
    reported("agreement", "--study", study.name, "--task", "keep")


def test_every_address_of_a_study_shows_something_of_one_kind(ada, as_ada, ben, cleo) -> None:
    """With enough to show; so an address that comes later is one that the tests above do open."""
    shown, known = set(), set()
    for make in MAKERS.values():
        with transaction.atomic():
            for address, name in addresses_of(make(ALL, ada, (ben, cleo))):
                known.add(name)
                if name not in shown and opened(as_ada, address).status_code != 404:
                    shown.add(name)
            transaction.set_rollback(True)
    assert known - shown - {None} == set()


def reported(name: str, *arguments: str) -> str:
    """What a report prints; nothing where it says what there is not."""
    try:
        return output_of("report", name, *arguments)
    except CommandError:
        return ""


CHOSEN = {
    "/leaderboard/": "?dataset=long&format=nuggetizer&licence=CC0-1.0",
    "/questions/recall/": "?dataset=long2rag&format=nuggetizer&licence=CC0-1.0",
}
"""Queries of files whose format is to be chosen."""


@pytest.mark.parametrize("amount", TRIED)
def test_every_page_and_file_of_benchmarks_opens(amount: str, as_ada, ben, cleo) -> None:
    make_benchmarks(amount, (ben, cleo))
    addresses = [
        ARGUMENT.sub(file, route) + query
        for start in ("/leaderboard/", "/questions/recall/")
        for route, name in routes(start)
        for file in (FILES[name] if "<str:" in route else ("",))
        for query in ("", CHOSEN[start] if route.endswith("other-programs.zip") else "?dataset=long")
    ]
    under = ("/leaderboard/", "/questions/", "/corpora/")
    walk = walked(as_ada, addresses, under=under, in_every_way=AT_NIGHT or amount == ALL)
    assert walk.broken == set()
    if amount == ALL:
        assert {urlsplit(address).path for address in addresses} - walk.shown == set()
    # Every report on benchmarks is printed or refused
    for name in REPORTS:
        reported(name)
        reported(name, "--json")
    for name in ("leaderboard", "position", "context", "experiments", "retrieval"):
        reported(name, "--haystack", "long")
    for by in ("system", "documents"):
        reported("kpr", "--by", by)
