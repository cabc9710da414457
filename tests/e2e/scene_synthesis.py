"""What people need who write and link on haystacks that a story has made: accounts, summaries, studies."""

from typing import Any

from django.utils import timezone

from annotation.labelling.summaries import candidates
from annotation.linking import items
from annotation.models import Annotator, LinkingPlan, WritingPlan
from annotation.studies import lifecycle
from annotation.writing import assigning, planning, scoring
from benchmarks.engine import judging, summarizing, versions
from benchmarks.engine.summarizing import Source
from benchmarks.models import Haystack, Subtopic
from tests import makers
from tests.e2e.scene import known, person


def people() -> None:
    """Two annotators, who have agreed."""
    now = timezone.now()
    makers.give_consent(person("ben"), person("cleo"), now=now)


def link() -> str:
    """The offline baseline summarizes the newest haystack, and ben is to link what it wrote; gives the study."""
    now = timezone.now()
    ada = known("ada")
    haystack = Haystack.objects.latest("pk")
    writer = versions.extractive(now=now)
    drafts = summarizing.drafted(judge=writer, subjects=list(haystack.subtopics.all()), shown=Source(), now=now)
    run = judging.request_run(judge=writer, subjects=drafts, task=summarizing.TASK, reason="story", now=now)
    judging.run_pending(run=run, clock=timezone.now)
    study = items.create_study(
        plan=LinkingPlan(people_per_item=1),
        summaries=candidates([haystack], user=ada, with_people=False),
        details=lifecycle.Details(name=f"Link {haystack.title}"),
        annotators=[Annotator.objects.get(label="Ben")],
        by=ada,
        now=now,
        seed=1,
    )
    lifecycle.open_study(study=study, by=ada, now=now)
    return str(study.uid)


def write() -> dict[str, Any]:
    """A study of the two newest haystacks as parallel forms, dealt to both; gives study and tasks by person."""
    now = timezone.now()
    ada = known("ada")
    forms = Haystack.objects.order_by("-pk")[:2]
    study = planning.create_study(
        plan=WritingPlan(parallel_forms=True, allow_second_on_haystack=False, sessions_per_subtopic=2),
        subtopics=Subtopic.objects.filter(haystack__in=[one.pk for one in forms]),
        details=lifecycle.Details(name="Two forms"),
        annotators=Annotator.objects.order_by("label"),
        by=ada,
        now=now,
        seed=1,
    )
    lifecycle.open_study(study=study, by=ada, now=now)
    assigning.assign(study=study, by=ada, now=now)
    tasks: dict[str, list[str]] = {}
    for row in study.assignments.order_by("pk"):
        tasks.setdefault(row.annotator.user.username, []).append(str(row.uid))
    return {"study": str(study.uid), "tasks": tasks}


def score() -> None:
    """The worker's part: what people wrote is judged by the offline judge."""

    for run in scoring.score_snapshots(now=timezone.now()):
        judging.run_pending(run=run, clock=timezone.now)
