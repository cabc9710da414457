"""Pages on which researchers go through the disagreements of a study of any kind and decide them.

They decide without knowing whose answers these are, by letters instead of names. Each item has an order of its
own, which stays while the same people answered it; so a letter says nothing about a person.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256
from string import ascii_uppercase
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotation.adjudication.deciding import OPEN, Deciding, Dispute, Said, narrowed, next_open
from annotation.adjudication.decisions import PAGE, DecisionRefused
from annotation.kinds import kind_named
from annotation.models import Study
from annotation.studies.guidelines import current_guideline
from annotation.studies.kind import with_plans
from annotation.studies.rows import objects
from annotation.studies.scope import uid_in
from benchmarks.access import sight
from benchmarks.web.downloads import csv_download, jsonl_download
from benchmarks.web.pages import HtmxHttpRequest, page, render_markdown
from benchmarks.web.permissions import requires, saw_insights

PARAMETER = "blind"
"""The parameter of addresses, with the value 1."""


def is_asked(request: HttpRequest) -> bool:
    return request.GET.get(PARAMETER) == "1"


def letters(study: Study, item: str, people: Iterable[str]) -> dict[str, str]:
    """{person: letter} in the order of the letters; `item` and `people` are ids that stay."""

    def place(person: str) -> str:
        return sha256(f"{study.uid}:{item}:{person}".encode()).hexdigest()

    return {person: _letter(at) for at, person in enumerate(sorted(set(people), key=place))}


def hidden(study: Study, item: str, said: Iterable[Said]) -> tuple[tuple[Said, ...], str]:
    """People who count as letters, without times and judges; and who is who, “A = ben, B = cleo”."""
    people = {person.key: person for person in said if person.is_chosen and not person.is_judge}
    letter_of = letters(study, item, people)
    names = ", ".join(f"{letter} = {people[key].name}" for key, letter in letter_of.items())
    return tuple(replace(people[key], name=letter, made_at=None) for key, letter in letter_of.items()), names


def _letter(at: int) -> str:
    round_, place = divmod(at, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(round_ + 1) if round_ else "")


A_PAGE = 25
Item = dict[str, Any]


@requires("annotation.view_session")
@require_safe
def queue(request: HtmxHttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Items in dispute, most disputed first. With `blind=1` open ones have letters for names, and no judges."""
    study, way = _study(request, uid)
    if elsewhere := way.instead(study):
        return redirect(elsewhere)
    which, show, is_blind = _which(request, way), request.GET.get("show", OPEN), is_asked(request)
    queued = way.queue(study, which)
    saw_insights(request.user, *queued.haystacks)
    shown = Paginator(narrowed(queued.places, show), A_PAGE).get_page(request.GET.get("page"))
    held = way.decisions.current(study, [place.key for place in shown])
    rows = []
    for place, row in zip(shown, queued.rows(list(shown)), strict=True):
        if is_blind and not place.is_decided:
            row = replace(row, said=hidden(study, _address(row.uids), row.said)[0], system="")
        decision = held.get(place.key)
        url = _to("annotation:dispute", study, *row.uids, **which)
        rows.append((place, row, url, decision, way.words(decision) if decision else ()))
    context = {
        "study": study,
        "way": way,
        "queue": queued,
        "page": shown,
        "rows": rows,
        "show": show,
        "is_blind": is_blind,
        "n_all": len(queued.places),
        "n_decided": sum(place.is_decided for place in queued.places),
        "next_url": _to("annotation:disagreements-next", study, **which),
    }
    return page(request, "annotation/disagreements.html", context)


@requires("annotation.change_study")
@require_http_methods(["GET", "HEAD", "POST"])
def decide(
    request: HtmxHttpRequest, uid: uuid.UUID, first: uuid.UUID, second: uuid.UUID | None = None
) -> HttpResponse:
    """One item: what is judged, everybody's answer, and the decision."""
    study, way = _study(request, uid)
    address = _address((first, second) if second else (first,))
    item = _item_at(study, way, address)
    history = list(way.decisions.history(study, **item))
    dispute = way.dispute(study, item)
    if is_asked(request) and not history:
        people, letters = hidden(study, address, dispute.people)
        dispute = replace(dispute, people=people, judges=(), is_blind=True, letters=letters)
    which, error = _which(request, way), ""
    next_url = _to("annotation:disagreements-next", study, after=address, **which)
    if request.method == "POST":
        try:
            is_decided = _decided(request, study, way, item, dispute)
        except DecisionRefused as problem:
            error = str(problem)
        else:
            return redirect(next_url if is_decided else request.get_full_path())
    saw_insights(request.user, *dispute.haystacks)
    keys, key = [place.key for place in way.places(study, which)], way.decisions.key(item)
    context = {
        "study": study,
        "way": way,
        "item": item,
        "dispute": dispute,
        **dispute.more,
        **_form(request, study, way, dispute, history),
        "error": error,
        "place": keys.index(key) + 1 if key in keys else None,
        "n": len(keys),
        "next_url": next_url,
        "queue_url": _to(PAGE, study, **which),
    }
    return page(request, "annotation/dispute.html", context, status=422 if error else 200)


@requires("annotation.view_session")
@require_safe
def onward(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """To the next undecided item after the one called `after`, or to the queue where there is none."""
    study, way = _study(request, uid)
    which, after = _which(request, way), None
    if "after" in request.GET:
        after = way.decisions.key(_item_at(study, way, request.GET["after"]))
    places = way.places(study, which)
    place = next_open(places, after=after)
    if place is None:
        if places:
            is_done = all(place.is_decided for place in places)
            messages.info(request, "Everything is decided." if is_done else "Everything else is decided.")
        return redirect(_to(PAGE, study, **which))
    item = _item(study, way, place.key, by="pk")
    return redirect(_to("annotation:dispute", study, *(thing.uid for thing in item.values()), **which))


@requires("annotation.view_session")
@require_safe
def decisions_file(request: HttpRequest, uid: uuid.UUID, kind: str) -> HttpResponseBase:
    """All decisions as CSV or JSON lines; with `history=1` every one ever made."""
    study, way = _study(request, uid)
    with_history = request.GET.get("history") == "1"
    name = f"adjudicated-{study.uid}{'-history' if with_history else ''}"
    saw_insights(request.user, *way.haystacks_of(study))
    rows = way.rows(study, with_history=with_history)
    if kind == "csv":
        return csv_download(request, tuple(way.columns), way.cells(rows), name=f"{name}.csv", about=study)
    if kind == "jsonl":
        return jsonl_download(objects(way.columns, rows), name=f"{name}.jsonl", about=study)
    raise Http404


@requires("annotation.view_session")
@require_http_methods(["GET", "HEAD", "POST"])
def moved(request: HttpRequest, uid: uuid.UUID, point: uuid.UUID | None = None) -> HttpResponse:
    """Send who follows an address that key points once had of their own to the one that all kinds share."""
    study, _way = _study(request, uid)
    query = request.GET.copy()
    if "0" in query.pop("open", []):
        query["show"] = "all"
    to = _to("annotation:dispute", study, point) if point else _to(PAGE, study)
    return redirect(f"{to}?{query.urlencode()}".rstrip("?"), permanent=True, preserve_request=True)


def _study(request: HttpRequest, uid: uuid.UUID) -> tuple[Study, Deciding]:
    studies = with_plans(Study.objects.readable_by(request.user).select_related("created_by", "group"))
    study: Study = get_object_or_404(studies, uid=uid)
    way: Deciding | None = kind_named(study.kind).deciding_of(study)
    if way is None:
        raise Http404
    if study.kind != Study.Kind.EXTERNAL:
        sight.within(study.group_id)
    return study, way


def _item(study: Study, way: Deciding, ids: Sequence[Any], *, by: str) -> Item:
    names = way.decisions.item
    named = {f"{name}__{by}": value for name, value in zip(names, ids, strict=False)}
    row = way.known(study).filter(**named).first() if len(ids) == len(names) else None
    if row is None:
        raise Http404
    return {name: getattr(row, name) for name in names}


def _item_at(study: Study, way: Deciding, address: str) -> Item:
    return _item(study, way, [uid_in(text) for text in address.split("/")], by="uid")


def _which(request: HttpRequest, way: Deciding) -> dict[str, str]:
    """Which queue the address names."""
    names = (*way.narrowed_by, PARAMETER)
    return {name: value for name in names if (value := request.GET.get(name, ""))}


def _address(uids: Sequence[uuid.UUID]) -> str:
    return "/".join(map(str, uids))


def _to(page_name: str, study: Study, *uids: uuid.UUID, **query: str) -> str:
    address = reverse(page_name, args=[study.uid, *uids])
    return f"{address}?{urlencode(query)}" if query else address


def _decided(request: HttpRequest, study: Study, way: Deciding, item: Item, dispute: Dispute) -> bool:
    """Store what was decided and say so, with who was who behind letters; False where it is withdrawn."""
    text = request.POST.get("seen", "")
    about: dict[str, Any] = {
        "study": study,
        "by": request.user,
        "now": timezone.now(),
        "seen": int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None,
    }
    if request.POST.get("action") == "take_back":
        if way.decisions.take_back(item=item, **about):
            messages.success(request, "The decision was withdrawn; it stays in the history.")
        else:
            messages.info(request, "It was withdrawn already.")
        return False
    value = request.POST.get("answer", "")
    if value not in {option.value for option in way.options}:
        raise DecisionRefused("Choose an answer.")
    answer = dict(zip(way.decisions.answers, value.split(), strict=False))
    about |= {"note": request.POST.get("note", ""), "is_blind": dispute.is_blind}
    way.adjudicate(**item, **answer, **way.more_in(request.POST), **about)
    said = f"Decided. {dispute.letters}." if dispute.letters else "Decided."
    messages.success(request, said)
    return True


def _form(request: HttpRequest, study: Study, way: Deciding, dispute: Dispute, history: list[Any]) -> Item:
    """Fill the form: what was sent and refused, else the decision that holds; and those before it."""
    current = next((row for row in history if row.is_current), None)
    sent = request.POST if request.method == "POST" and "answer" in request.POST else None
    guideline = current_guideline(study)
    return {
        "answer": way.decisions.value(current) if sent is None else sent["answer"],
        "note": (current.note if current else "") if sent is None else sent.get("note", ""),
        **way.form(study, dispute, current=current, sent=sent),
        "current": current,
        "history": [(row, way.words(row), way.beside(row, dispute)) for row in history],
        "seen": str(history[0].pk if history else 0),
        "guideline": guideline,
        "guideline_html": render_markdown(guideline.body) if guideline else "",
    }


HERE = "studies/<uuid:uid>/disagreements/"
BEFORE = "studies/<uuid:uid>/points/disagreements/"

urlpatterns = [
    path(HERE, queue, name="disagreements"),
    path(HERE + "next/", onward, name="disagreements-next"),
    path("studies/<uuid:uid>/adjudicated.<slug:kind>", decisions_file, name="adjudicated"),
    path(HERE + "<uuid:first>/", decide, name="dispute"),
    path(HERE + "<uuid:first>/<uuid:second>/", decide, name="dispute"),
    path(BEFORE, moved),
    path(BEFORE + "<uuid:point>/", moved),
]
