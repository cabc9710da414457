"""Research groups: a researcher of another group gets 404 from every address of what is hidden, and no page, list,
picker or file names it. Addresses come from the URL configuration, so one that comes later is walked too.
"""

import re
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import transaction
from django.test import Client
from django.utils import timezone

from annotation.models import Annotator, RecruitmentLink, Study
from benchmarks import grouping
from benchmarks.engine import judging, versions
from benchmarks.judges.questions import GeneratorConfig
from benchmarks.models import Haystack, JudgeRun, Question, Response, SourceSample, Subtopic, Summary, System
from benchmarks.web.permissions import LOGGED_IN
from extensions.synthesis import steps
from extensions.synthesis.models import Synthesis
from extensions.synthesis.settings import Settings
from summhay_site.accounts.models import PERMISSIONS, RESEARCHER
from tests.audit.addresses import ADDRESSES, Address
from tests.conftest import make_user
from tests.makers import make_haystack, make_linking_study, make_summary, make_writing_study
from tests.makers_verification import make_questions, make_verification_study

pytestmark = pytest.mark.django_db
SECRET, COMMON = "xyzzy", "plover"
"""A word of all that is hidden, which no other page has, and one of all that everybody sees."""
PLACE = str(uuid.UUID(int=0x5EED, version=4))
IDS = {word: uuid.uuid5(uuid.NAMESPACE_URL, word) for word in (SECRET, COMMON)}
"""The public id of one row of each kind: an address takes it, whatever it is of."""
SITES = {"Judge", "Summarizer", "Generator"}
"""What is the whole site's."""


@pytest.fixture
def scene(ada, ben, eve) -> list[uuid.UUID]:
    """Bob's group has texts, studies, a run, a synthesis and an annotator; Ada is in another one.

    Gives the public ids of further hidden studies.
    """
    now, bob, nan = timezone.now(), make_user("bob", "researcher"), make_user("nan", "annotator")
    nan.name = f"{SECRET} Nan"
    nan.save()
    Annotator.objects.filter(user=nan).update(label=nan.name)
    hidden = _studies(SECRET, by=bob, annotator=nan)
    SourceSample.objects.create(name=f"{SECRET}-sample", parts={}, created_at=now).members.add(
        make_haystack(key=f"{SECRET}-2", title=f"{SECRET} source", dataset=f"{SECRET}-sources", is_source=True)
    )
    group = grouping.make_group(name=f"{SECRET} lab", by=eve, now=now)
    for model in (Haystack, Question, Synthesis, SourceSample, Study):
        model.objects.update(group=group)
    for run in JudgeRun.objects.all():
        grouping.group_run(run)
    _give_ids(SECRET, but={"User"})
    type(nan).objects.filter(pk=nan.pk).update(uid=IDS[SECRET])
    others = grouping.make_group(name="Gulls", by=eve, now=now)
    grouping.set_members(group=group, members=[bob, nan], by=eve, now=now)
    grouping.set_members(group=others, members=[ada], by=eve, now=now)
    _studies(COMMON, by=ada, annotator=ben)
    _give_ids(COMMON, but={"User"})
    for study in hidden:
        study.researchers.add(ada)  # who has left the group since
    return [hidden[0].uid]


def _studies(word: str, *, by, annotator) -> list[Study]:
    """A haystack with a judged summary, a question set and a synthesis, and studies on them."""
    now = timezone.now()
    haystack = make_haystack(key=word, title=f"The {word} harbour", dataset=f"{word}-files")
    Subtopic.objects.filter(haystack=haystack).update(name=f"A {word} subtopic")
    summary = make_summary(subtopic=haystack.subtopics.get(number=1), system=f"{word}-model")
    questions = make_questions(2, dataset=f"{word}-set")
    Question.objects.filter(dataset=f"{word}-set").update(text=f"Which {word} harbours are there?")
    system = System.objects.create(key=f"{word}-rag", summarizer=f"{word}-rag")
    Response.objects.create(question=questions[0], system=system, text=word, n_words=1, created_at=now)
    _synthesis(f"{word} synthesis", by=by)
    judge = versions.default_judge(now=now)
    judging.request_run(judge=judge, subjects=[summary], reason="person", now=now, scope={"haystack": word})
    of_token: dict[str, Any] = {"judge": judge, "reason": f"token of {word}", "budget": None, "by": by, "now": now}
    judging.request_score(subtopic=summary.subtopic, text=f"- A {word} [1].", **of_token)
    made: dict[str, Any] = {"researcher": by, "annotators": [annotator]}
    linking = make_linking_study(summaries=Summary.objects.filter(haystack=haystack), name=f"{word} links", **made)
    RecruitmentLink.objects.create(study=linking, id_parameter="PID", created_at=now)
    writing = make_writing_study(haystack=haystack, name=f"{word} texts", **made)
    return [linking, writing, make_verification_study(questions=questions, name=f"{word} points", **made)]


def _synthesis(topic: str, *, by) -> None:
    now, config = timezone.now(), GeneratorConfig(base_url="http://127.0.0.1:9", model="m")
    judge = steps.save_generator(config=config, by=None, now=now)
    steps.begin(kind="news", topic=topic, settings=Settings(), seed=1, judge=judge, judges={}, by=by, now=now)


def _give_ids(word: str, *, but: set[str]) -> None:
    """Give the newest row of each kind the same public id."""
    for model in apps.get_models():
        if hasattr(model, "uid") and model.__name__ not in but | SITES and not model._meta.proxy:
            newest = model._base_manager.exclude(uid=IDS[SECRET]).order_by("-pk").first()
            if newest is not None:
                model._base_manager.filter(pk=newest.pk).update(uid=IDS[word])


def _addresses(*, uids: Iterable[uuid.UUID], word: str) -> Iterator[tuple[Address, str]]:
    """Every address of researchers, with these ids in it, and `word` for its other arguments."""
    for address in ADDRESSES:
        if address.access not in {LOGGED_IN, *PERMISSIONS[RESEARCHER]}:
            continue
        path = re.sub(r"(?<=/)x(?=/|\.jsonl$)", f"{word}-set", address.path)
        for uid in uids:
            if uid == IDS[word] or (path.startswith("/studies/") and PLACE in path):
                yield address, path.replace(PLACE, str(uid))


def _ask(client: Client, path: str) -> tuple[int, str]:
    """Ask, by POST where GET is not allowed; the status and the whole body. What the request changed is undone."""
    with transaction.atomic():
        response = client.get(path)
        if response.status_code == 405:
            response = client.post(path)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        transaction.set_rollback(True)
    return response.status_code, body.decode(errors="replace").casefold()


def _is_about(address: Address) -> bool:
    """Whether an address takes an object that a group can have; kinds, files and formats are nobody's."""
    takes = PLACE in address.path or "/sets/" in address.path or address.path.endswith(".jsonl")
    return takes and not address.name.startswith(("judge-detail", "judge-edit", "judge-cost", "summarizer"))


def test_nothing_that_belongs_to_another_group_has_an_address(scene: list[uuid.UUID], as_ada) -> None:
    wrong = []
    for address, path in _addresses(uids=[IDS[SECRET], *scene], word=SECRET):
        if _is_about(address):
            status, _body = _ask(as_ada, path)
            if status not in (400, 404):
                wrong.append(f"{address.name} {path}: {status}")
    assert wrong == []


def test_no_list_picker_or_file_names_what_is_hidden(scene: list[uuid.UUID], as_ada) -> None:
    more = ["/corpora/search/?q=harbour", "/corpora/?archived=1", "/people/?state=all", "/questions/?q=harbour"]
    pages = [path for _address, path in _addresses(uids=[IDS[COMMON]], word=COMMON)]
    answers = {path: _ask(as_ada, path) for path in [*pages, *more]}
    assert [path for path, (_status, body) in answers.items() if SECRET in body] == []
    assert sum(COMMON in body for _status, body in answers.values()) > 50, "these are the pages of what is there"
    assert [path for path, (status, _body) in answers.items() if status == 500] == []
