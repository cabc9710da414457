"""The addresses of the API. Rows are those of files of pages and archives; pages' own views give figures."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any

import orjson
from django.core.exceptions import BadRequest
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import Case, Count, Max, Model, Q, QuerySet, When
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import URLPattern, path, resolve, reverse
from django.utils import timezone
from django.utils.http import quote_etag
from django.views.decorators.http import require_safe
from ninja import NinjaAPI, Query, Schema
from ninja.errors import HttpError, ValidationError
from pydantic import AfterValidator, StringConstraints

from annotation import publishing
from annotation.exports.archive import MEDIA_TYPES
from annotation.exports.boards import VERDICTS as COVERAGE
from annotation.exports.figures import about_judge, public_results
from annotation.exports.studies import described, files_of
from annotation.kinds import kind_named
from annotation.models import LabelItem, Publication, Removal, Session, Snapshot, Study
from annotation.studies.kind import Work
from annotation.studies.rows import Columns, cells, fields_of, objects, rows_of
from annotation.writing import curves, scoring, settling
from annotation.writing.files import SNAPSHOTS, of_sessions, session_objects, study_sessions
from benchmarks import audit
from benchmarks.engine import judging, runs, versions
from benchmarks.engine.wakeup import enqueue
from benchmarks.io.published import values_of
from benchmarks.models import (
    AuditEvent,
    Haystack,
    Judge,
    JudgeRun,
    JudgeRunItem,
    PointVerdict,
    Question,
    Response,
    SentSummary,
    Summary,
    Verdict,
)
from benchmarks.results.computation import program
from benchmarks.results.sheet import Sheet
from benchmarks.results.writing import LONG_COLUMNS, long_rows
from benchmarks.scoring import summhay
from benchmarks.scoring.text import lines_from_list
from benchmarks.web.downloads import PROGRAMS, Kept, download
from benchmarks.web.permissions import public, saw_insights
from summhay_site.api.access import error, guarded, row_by_row
from summhay_site.models import Token

MOST = 1000
READER = Path(__file__).with_name("summhay_reader.py")
STUDY, RESULTS, CORPUS, SUMMARY, QUESTION, JUDGE, SCORE = (
    "annotation.view_study",
    "annotation.view_session",
    "benchmarks.view_haystack",
    "benchmarks.view_summary",
    "benchmarks.view_question",
    "benchmarks.view_judge",
    "benchmarks.add_judgerun",
)
api = NinjaAPI(
    title="SummHay",
    version="1",
    description=(
        "What pages show, and scores of summaries that are sent. Send a token of your profile as "
        "`Authorization: Bearer shy_…`."
    ),
    docs_url=None,
    openapi_url=None,
    urls_namespace="api",
)
_guards: dict[str, dict[str, Any]] = {}


class Page(Schema):
    """A page of a list; `next` is the address of the next one."""

    items: list[dict[str, Any]]
    next: str | None


def get(
    route: str, permission: str, *, answers: Any = Page, scope: str = Token.Scope.READ, method: str = "GET"
) -> Callable[[Any], Any]:
    """Declare an address: who may read it on pages, and what it answers (None: a file)."""

    def declare(view: Any) -> Any:
        name = f"api-{view.__name__.replace('_', '-')}"
        _guards[name] = {"permission": permission, "scope": scope, "is_sent_to": method == "POST"}
        auth: dict[str, Any] = {} if not permission else {"security": [{"token": []}]}
        response = {200: answers} if answers is not None else None
        return api.api_operation([method], route, url_name=name, summary=(view.__doc__ or "").strip(),
            response=response, openapi_extra=auth)(view)  # fmt: skip

    return declare


@api.exception_handler(ValidationError)
def _invalid(_request: HttpRequest, problem: Any) -> HttpResponse:
    return error(400, "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in problem.errors))


@api.exception_handler(HttpError)
def _unreadable(_request: HttpRequest, problem: Any) -> HttpResponse:
    return error(problem.status_code, str(problem))


@api.exception_handler(Http404)
def _missing(_request: HttpRequest, _problem: Any) -> HttpResponse:
    return error(404, "There is no such thing, or you may not see it.")


# Lists and files

_signer = Signer(salt="summhay.api.cursor")
Limit: Any = Query(100, ge=1, le=MOST)  # type: ignore[type-arg]


def listed(
    request: HttpRequest,
    rows: QuerySet[Any, Any],
    made: Callable[[QuerySet[Any, Any]], Iterable[Mapping[str, Any]]],
    *,
    name: str = "",
    about: Model | None = None,
) -> HttpResponse:
    """A page of rows, the oldest first; that the first page of what has a name was read is in the audit log."""
    limit, cursor = int(request.GET.get("limit", 100)), request.GET.get("cursor", "")
    try:
        after = int(_signer.unsign(cursor)) if cursor else 0
    except BadSignature:
        raise BadRequest("cursor: it is not one of ours") from None
    keys = list(rows.order_by("pk").filter(pk__gt=after).values_list("pk", flat=True)[: limit + 1])
    here = keys[:limit]
    wanted = rows.filter(pk__gt=after, pk__lte=here[-1] if here else after).order_by("pk")
    items = list(row_by_row(request, made(wanted)))
    following = None
    if len(keys) > limit:
        query = request.GET.copy()
        query["cursor"] = _signer.sign(here[-1])
        following = f"{request.path}?{query.urlencode()}"
    response = _json({"items": items, "next": following})
    if name and not cursor:
        response.kept = Kept(name, about)  # type: ignore[attr-defined]
    return response


def _json(value: Any) -> HttpResponse:
    text = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    return HttpResponse(text, content_type="application/json")


def _of(columns: Columns) -> Callable[[QuerySet[Any, Any]], Iterable[dict[str, Any]]]:
    """Rows of a queryset as objects with these columns."""
    return lambda rows: objects(columns, cells(rows.values(*fields_of(columns)), columns))


def passed_on(request: HttpRequest, page: str, **where: Any) -> HttpResponseBase:
    """The answer of a page's own view."""
    match = resolve(reverse(page, kwargs=where))
    request.resolver_match = match
    query = request.GET.copy()
    query["for"] = PROGRAMS
    request.GET = query  # type: ignore[assignment]
    response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return response


# Studies


def _study(request: HttpRequest, uid: uuid.UUID) -> Study:
    study: Study = get_object_or_404(Study.objects.readable_by(request.user), uid=uid)
    return study


def _studies(rows: QuerySet[Any, Any]) -> Iterable[dict[str, Any]]:
    for study in rows.with_progress():  # type: ignore[attr-defined]
        counts, times = ("n_annotators", "n_tasks", "n_done"), ("created_at", "due_at")
        yield {"id": str(study.uid), **values_of(study, "name", "kind", "state", *counts, *times)}


@get("studies", STUDY)
def studies(
    request: HttpRequest, name: str = "", kind: str = "", limit: int = Limit, cursor: str = ""
) -> HttpResponse:
    """Studies whose results you may read"""
    wanted = {key: value for key, value in (("name", name), ("kind", kind)) if value}
    return listed(request, Study.objects.readable_by(request.user).filter(**wanted), _studies)


@get("studies/{uuid:uid}", STUDY, answers=dict[str, Any])
def study(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """A study: settings, people, versions of its texts, corpora"""
    return _json(described(_study(request, uid), now=timezone.now(), with_hashes=False).as_json())


def _either(first: Any, second: Any) -> Any:
    return second if first is None else first


ITEMS: Columns = {
    "block": "block",
    "role": "role",
    "is_overlap": "is_overlap",
    "n_questions": "n_questions",
    "system": (_either, "summary__system__key", "response__system__key"),
    "haystack": "summary__haystack__key",
    "subtopic": "summary__subtopic__key",
    "summary": "summary__uid",
    "dataset": "key_point__question__dataset",
    "question": "key_point__question__key",
    "key_point": "key_point__uid",
    "key_point_text": "key_point__text",
    "response": "response__uid",
    "text": (_either, "summary__text", "response__text"),
}


@get("studies/{uuid:uid}/items", STUDY)
def items(request: HttpRequest, uid: uuid.UUID, limit: int = Limit, cursor: str = "") -> HttpResponse:
    """Items that a study wants labels of"""
    chosen = _study(request, uid)
    rows = LabelItem.objects.filter(study=chosen)
    return listed(request, rows, _of(ITEMS), name="items", about=chosen)


@get("studies/{uuid:uid}/labels", STUDY)
def labels(
    request: HttpRequest, uid: uuid.UUID, which: str = "current", limit: int = Limit, cursor: str = ""
) -> HttpResponse:
    """Labels under pseudonyms: current, first or history, as the kind of study has them"""
    chosen = _study(request, uid)
    kind = kind_named(chosen.kind)
    if not isinstance(kind, Work) or which not in dict(kind.label_files):
        raise Http404
    saw_insights(request.user, *kind.insights_in_files(chosen))

    def made(rows: QuerySet[Any, Any]) -> Iterable[dict[str, Any]]:
        return objects(kind.label_columns, kind.label_rows(chosen, which, rows))

    return listed(request, kind.labels(chosen, which), made, name=f"labels-{which}", about=chosen)


def _written(request: HttpRequest, uid: uuid.UUID) -> Study:
    """A writing study, whose sessions that are due have ended."""
    chosen = _study(request, uid)
    if kind_named(chosen.kind).beside_systems != "texts":
        raise Http404
    settling.settle_study(study=chosen, now=timezone.now())
    return chosen


@get("studies/{uuid:uid}/sessions", RESULTS)
def sessions(request: HttpRequest, uid: uuid.UUID, limit: int = Limit, cursor: str = "") -> HttpResponse:
    """Writing sessions with their times, marks and settings"""
    chosen = _written(request, uid)
    made = partial(session_objects, chosen, timezone.now())
    return listed(request, study_sessions(chosen), made, name="sessions", about=chosen)


@get("studies/{uuid:uid}/snapshots", RESULTS)
def snapshots(request: HttpRequest, uid: uuid.UUID, limit: int = Limit, cursor: str = "") -> HttpResponse:
    """Texts at each mark of each session"""
    chosen = _written(request, uid)

    def made(rows: QuerySet[Any, Any]) -> Iterable[dict[str, Any]]:
        return objects(SNAPSHOTS, rows_of(chosen, rows, SNAPSHOTS))

    return listed(request, of_sessions(Snapshot, chosen), made, name="snapshots", about=chosen)


@get("studies/{uuid:uid}/curve", RESULTS)
def curve(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Progress curves of a writing study, of means and of each session; one page"""
    chosen = _written(request, uid)
    judge = scoring.judge_of(study=chosen.pk, now=timezone.now())
    rows = list(objects(curves.CURVE_COLUMNS, curves.curve_rows(chosen, judge)))
    return _json({"items": rows, "next": None})


@get("studies/{uuid:uid}/figures/{str:name}", RESULTS, answers=None)
def figures(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """A file of the results page (figures.json, figures.csv, a table, a chart), with the query of that page"""
    page = kind_named(_study(request, uid).kind).results_page
    if not page:
        raise Http404
    return passed_on(request, f"{page}-file", uid=uid, name=name)


@get("studies/{uuid:uid}/files", STUDY)
def files(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Files of a study's archive; tables are CSV and Parquet"""
    chosen = _study(request, uid)
    rows = [
        {"name": file.name, "title": str(file.title), "url": reverse("api-file", args=[uid, file.name])}
        for file in files_of(chosen, now=timezone.now())
    ]
    return _json({"items": rows, "next": None})


@get("studies/{uuid:uid}/files/{path:name}", STUDY, answers=None)
def file(request: HttpRequest, uid: uuid.UUID, name: str) -> HttpResponseBase:
    """One file of a study's archive, streamed"""
    chosen = _study(request, uid)
    wanted = next((file for file in files_of(chosen, now=timezone.now()) if file.name == name), None)
    if wanted is None:
        raise Http404
    etag = quote_etag(_version(chosen, name))
    if request.headers.get("If-None-Match") == etag:
        return HttpResponse(status=304, headers={"ETag": etag})
    saw_insights(request.user, *kind_named(chosen.kind).insights_in_files(chosen))
    kept, ending = name.replace("/", "-"), name.rpartition(".")[2]
    kind = MEDIA_TYPES.get(ending, "application/octet-stream")
    response = download(wanted.content(reader=PROGRAMS), name=kept, content_type=kind, about=chosen)
    response["ETag"] = etag
    return response


@get("studies/{uuid:uid}/archive.zip", STUDY, answers=None)
def archive(request: HttpRequest, uid: uuid.UUID) -> HttpResponseBase:
    """A study's archive as a whole; `licence=` is stated in it"""
    return passed_on(request, "annotation:study-archive-file", uid=uid)


SESSION = ("pk", "state", "acc_ms", "draft_rev", "last_seen_at", "attested_before_at", "late_text")


def _version(study: Study, name: str) -> str:
    """A version of all that the files of a study hold."""
    kind = kind_named(study.kind)
    history = kind.labels(study, "history").order_by() if isinstance(kind, Work) else None
    of_results = public_results(study)
    sessions = list(Session.objects.filter(assignment__study=study).order_by("pk").values_list(*SESSION))
    is_running = any(state == Session.State.RUNNING for _pk, state, *_more in sessions)  # and its time with it
    tasks = study.label_tasks.order_by().aggregate(Max("pk"), Count("pk"), Max("active_ms"))
    facts = (
        program(),
        name,
        None if of_results is None else of_results[0].computation.version(of_results[1]),
        None if history is None else history.aggregate(Count("pk"), Max("pk")),
        tasks,
        AuditEvent.objects.exclude(action__startswith="file.").aggregate(Max("pk")),
        Removal.objects.aggregate(Max("pk")),
        list(Study.objects.filter(pk=study.pk).values()),
        sessions,
        timezone.now() if is_running else None,
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:32]


# Texts and what judges said of them

SUMMARIES: Columns = {
    "summary": "uid",
    "subtopic": "subtopic__key",
    "query": "subtopic__query",
    "system": "system__summarizer",
    "retriever": "system__retriever",
    "document_order": "system__document_order",
    "text": "text",
    "created_at": "created_at",
}
BY: Columns = {
    "judge": (lambda name, version: str(Judge(name=name, version=version)), "judge__name", "judge__version")
}
RESPONSES: Columns = {
    "response": "uid",
    "question": "question__key",
    "system": "system__key",
    "text": "text",
    "n_words": "n_words",
}
ENTAILMENT: Columns = {
    **BY,
    "question": "response__question__key",
    "response": "response__uid",
    "system": "response__system__key",
    "premise": "premise",
    "key_point": "key_point__key",
    "point": "point__number",
    "answer": "answer",
    "score": "score",
    "is_valid": "is_valid",
}


@get("haystacks", CORPUS)
def haystacks(request: HttpRequest, dataset: str = "", limit: int = Limit, cursor: str = "") -> HttpResponse:
    """Haystacks that you may read"""
    rows = Haystack.objects.current().filter(**({"dataset": dataset} if dataset else {}))
    names = (
        "key",
        "title",
        "dataset",
        "domain",
        "language",
        "n_documents",
        "n_words",
        "content_sha256",
        "is_source",
    )
    return listed(request, rows, _of({"id": "uid", **{name: name for name in names}}))


@get("haystacks/{uuid:uid}/summaries", SUMMARY)
def summaries(request: HttpRequest, uid: uuid.UUID, limit: int = Limit, cursor: str = "") -> HttpResponse:
    """Summaries of systems, one a subtopic"""
    haystack = get_object_or_404(Haystack, uid=uid)
    rows = Summary.objects.filter(haystack=haystack).counted()
    return listed(request, rows, _of(SUMMARIES), name="summaries", about=haystack)


@get("haystacks/{uuid:uid}/verdicts", SUMMARY)
def verdicts(
    request: HttpRequest, uid: uuid.UUID, judge: str = "", limit: int = Limit, cursor: str = ""
) -> HttpResponse:
    """First answers of judges on summaries of systems, by the keys of insights"""
    haystack = get_object_or_404(Haystack, uid=uid)
    texts = Summary.objects.filter(haystack=haystack).counted().values("pk")
    rows = Verdict.objects.counted().filter(summary__in=texts, repeat=0, **_by(judge))
    return listed(request, rows, _of({**BY, **COVERAGE}), name="verdicts", about=haystack)


def _by(judge: str) -> dict[str, Any]:
    """The condition that answers are of the judge of a name, of whatever version."""
    return {"judge__name": judge} if judge else {}


@get("questions/{slug:dataset}/responses", QUESTION)
def responses(request: HttpRequest, dataset: str, limit: int = Limit, cursor: str = "") -> HttpResponse:
    """Responses of systems to the questions of a set"""
    rows = Response.objects.filter(question__in=_questions(dataset))
    return listed(request, rows, _of(RESPONSES), name=f"{dataset}-responses")


@get("questions/{slug:dataset}/verdicts", QUESTION)
def point_verdicts(
    request: HttpRequest, dataset: str, judge: str = "", limit: int = Limit, cursor: str = ""
) -> HttpResponse:
    """First answers of judges on the points of responses"""
    rows = PointVerdict.objects.filter(
        response__question__in=_questions(dataset), repeat=0, judge__archived_at=None, **_by(judge)
    )
    return listed(request, rows, _of(ENTAILMENT), name=f"{dataset}-verdicts")


def _questions(dataset: str) -> QuerySet[Any, Any]:
    rows = Question.objects.of(dataset=dataset).order_by()
    if not rows.exists():
        raise Http404
    return rows.values("pk")


@get("judges", JUDGE)
def judges(request: HttpRequest, limit: int = Limit, cursor: str = "") -> HttpResponse:
    """Judges with their settings, without prompts"""
    return listed(request, Judge.objects.counted(), lambda rows: map(about_judge, rows))


# Scores of summaries that are sent

MOST_CHARACTERS = 50_000
ASK_AGAIN_AFTER_S = 2


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("no text holds NUL")
    return text


class Sent(Schema):
    """A summary on a subtopic, a cited bullet in each line, for a judge by name (empty: the default one)."""

    haystack: Annotated[str, AfterValidator(_storable)]
    subtopic: Annotated[str, AfterValidator(_storable)]
    summary: Annotated[str, StringConstraints(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(_storable)]
    judge: Annotated[str, AfterValidator(_storable)] = ""


@get("scores", SCORE, answers=dict[str, Any], scope=Token.Scope.SCORE, method="POST")
def scores(request: HttpRequest, sent: Sent) -> HttpResponse:
    """Has a judge score a summary; where that takes time, says where to ask again"""
    token: Token | None = request.token  # type: ignore[attr-defined]
    if token is None:
        return error(403, "Send a token of the scope “score”.")
    haystack = _the_one(Haystack.objects.current(), sent.haystack, "haystack", "key", "title")
    subtopic = _the_one(haystack.subtopics.all(), sent.subtopic, "subtopic", "key", "name")
    now = timezone.now()
    known = versions.judges_called(sent.judge) if sent.judge else [versions.default_judge(now=now)]
    if not known:
        raise BadRequest(f"judge: there is none called “{sent.judge}”")
    text = sent.summary.replace("\r\n", "\n").replace("\r", "\n")
    wanted: dict[str, Any] = {
        "judge": known[0],
        "subtopic": subtopic,
        "text": text,
        "by": request.user,
        "now": now,
    }
    try:
        with transaction.atomic():
            row = judging.request_score(**wanted, reason=f"token {token.uid}", budget=token.budget)
            audit.record(actor=request.user, action="summary.scored", target=haystack, now=now,
                judge=str(known[0]), summary=str(row.uid))  # fmt: skip
    except judging.JudgeUnavailable as problem:
        raise BadRequest(f"judge: {problem}") from None
    except judging.RunStopped as stopped:
        return _stopped(stopped.run)
    item = _waiting(row)
    if item is not None and item.run.state in runs.GOING:
        enqueue(runs.worker_task(item.run), str(item.run.uid))
        row.refresh_from_db(fields=["answers"])  # workers may be part of this process
    return _scored(request, row)


@get("scores/{uuid:uid}", SCORE, answers=dict[str, Any], scope=Token.Scope.SCORE)
def score(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """The scores of a summary that was sent"""
    return _scored(request, get_object_or_404(SentSummary.objects.select_related("subtopic__haystack"), uid=uid))


def _the_one(rows: QuerySet[Any, Any], name: str, what: str, *fields: str) -> Any:
    """The row with this id or name."""
    try:
        named = Q(uid=uuid.UUID(name))
    except ValueError:
        named = reduce(or_, (Q(**{field: name}) for field in fields))
    matching = rows.filter(named)[:2]
    if len(matching) != 1:
        many = (
            "several are called that; send the id" if matching else "there is no such thing, or you may not see it"
        )
        raise BadRequest(f"{what}: {many}")
    return matching[0]


def _waiting(row: SentSummary) -> JudgeRunItem | None:
    """Where a summary waits for its judge, or what became of that last."""
    items = JudgeRunItem.objects.filter(other=row.pk, run__task=JudgeRun.Task.SENT, run__judge=row.judge_id)
    going = Case(When(run__state__in=runs.GOING, then=0), default=1)
    return items.select_related("run__judge").order_by(going, "-pk").first()


def _stopped(run: JudgeRun) -> HttpResponse:
    """That somebody, a budget or a server stopped the run, and where it is resumed."""
    place = reverse("benchmarks:judge-run", args=[run.uid])
    return error(409, f"The run of this token is {run.state}: {place}. {run.message}".strip())


def _scored(request: HttpRequest, row: SentSummary) -> HttpResponse:
    """Scores and verdicts, by the keys of insights; 202 while the judge is at it."""
    insights = list(row.subtopic.insights.order_by("number"))
    about = {"id": str(row.uid), "haystack": row.subtopic.haystack.key, "subtopic": row.subtopic.key}
    answers = [(insight, row.answers.get(str(insight.pk))) for insight in insights]
    if not all(answer for _insight, answer in answers):
        item = _waiting(row)
        if item is None or item.state == JudgeRunItem.State.DONE:
            return error(409, "Something was not asked; send the summary again.")
        if item.state == JudgeRunItem.State.FAILED:
            return error(502, f"The judge failed on it; send the summary again to try again. {item.error}")
        if item.run.state not in runs.GOING:
            return _stopped(item.run)
        place = reverse("api-score", args=[row.uid])
        waiting = _json({**about, "state": "waiting", "next": place, "after_s": ASK_AGAIN_AFTER_S})
        waiting.status_code = 202
        waiting["Location"], waiting["Retry-After"] = place, str(ASK_AGAIN_AFTER_S)
        return waiting
    saw_insights(request.user, row.subtopic.haystack)
    verdicts = {
        insight.key: summhay.Verdict(summhay.Coverage(answer["coverage"]), tuple(answer["lines"]))
        for insight, answer in answers
        if answer["coverage"]
    }
    golds = [(insight.key, frozenset(insight.gold_documents)) for insight in insights]
    total = summhay.score_summary(golds, verdicts, lines_from_list(row.text.split("\n")))
    by_key = {each.key: each for each in total.insights}
    rows = [
        {
            "insight": insight.key,
            **answer,
            "cited": each.cited if each else (),
            **{name: each.measure(name) if each else None for name in summhay.MEASURES[1:]},
        }
        for insight, answer in answers
        for each in [by_key.get(insight.key)]
    ]
    means = {name: total.scores.measure(name).value for name in summhay.MEASURES}
    return _json({**about, "judge": str(row.judge), "state": "done", "scores": means, "insights": rows})


# The leaderboard, and what is published


@get("leaderboard/{str:name}", RESULTS, answers=None)
def leaderboard(request: HttpRequest, name: str) -> HttpResponseBase:
    """A file of the leaderboard (figures.json, figures.csv, a table, a chart), with the query of that page"""
    return passed_on(request, "annotation:leaderboard-figures", name=name)


@get("public/{slug:address}", "", answers=dict[str, Any])
def published(request: HttpRequest, address: str) -> HttpResponse:
    """Published results, for anybody: figures one in each row; as HTML where they are fixed"""
    live = Publication.objects.live().select_related("study", "made_by")
    publication = get_object_or_404(live, address=address)
    about = values_of(publication, "title", "follows", "data_version")
    if not publication.follows:
        return _json({**about, "html": publication.fixed})
    try:
        parts, version = publishing.first_look(publication)
    except publishing.NothingYet:
        return error(503, retry_after=5)
    rows = list(objects(LONG_COLUMNS, long_rows(Sheet(parts))))
    return _json({**about, "data_version": version, "figures": rows})


# The description, the list and the reader


def schema() -> dict[str, Any]:
    """The OpenAPI document of all addresses."""
    made = dict(api.get_openapi_schema(path_prefix="/api/"))
    made.setdefault("components", {})["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return made


@public
@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document."""
    return _json(schema())


@public
@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Every address with its parameters, for people."""
    described_paths = [
        {"path": f"POST {route}" if method == "post" else route, "about": operation["summary"],
         "is_open": "security" not in operation,
         "parameters": [each for each in operation.get("parameters", []) if each["in"] == "query"]}
        for route, operations in schema()["paths"].items()
        for method, operation in operations.items()
    ]  # fmt: skip
    return render(request, "site/api.html", {"paths": described_paths, "is_reading": True})


@public
@require_safe
def reader(request: HttpRequest) -> HttpResponse:
    """The file that reads the API in notebooks."""
    return HttpResponse(READER.read_bytes(), content_type="text/x-python; charset=utf-8")


def _guarded() -> Iterator[URLPattern]:
    for pattern in api.urls[0]:
        if isinstance(pattern, URLPattern) and pattern.name in _guards:
            route = str(pattern.pattern).replace("<uuidstr:", "<uuid:")
            yield path(route, guarded(pattern.callback, **_guards[pattern.name]), name=pattern.name)


urlpatterns = [
    path("", overview, name="api"),
    path("openapi.json", openapi, name="api-openapi"),
    path("summhay_reader.py", reader, name="api-reader"),
    *_guarded(),
]
