"""Tags and filters of studies and work: how times and money are written, what a study has, markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django import template
from django.template import RequestContext
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from annotation.kinds import Text, kind_named
from annotation.labelling.kind import LabelWork
from annotation.models import Annotator, Assignment, LabelTask, Study
from annotation.people.recruitment import outcomes
from annotation.studies.amounts import about_minutes, duration, money, percent
from annotation.studies.kind import Part, Work, has_plan, label_formats, parts_of, work_of
from annotation.studies.overview import Remark
from annotation.work import tasklist
from annotation.writing.eligibility import Obstacle
from annotation.writing.late import Mark
from benchmarks.templatetags.stats import minutes

register = template.Library()


@register.filter
def key_of(keys: Mapping[str, str], name: object) -> str:
    """The key that does something, of those in use; empty where there is none."""
    return keys.get(str(name), "")


@register.simple_tag
def after_practice(annotator: Annotator, practised_for: str = "") -> tasklist.Row | None:
    """The writing that somebody goes on to, on a page that does not know what practice was for."""
    return tasklist.after_practice(annotator, timezone.now(), practised_for=practised_for)


@register.simple_tag
def board_of(annotator: Annotator) -> tasklist.Board:
    """All that waits for somebody, on a page that knows one kind of work alone."""
    return tasklist.board(annotator, timezone.now())


@register.simple_tag
def endings_of(annotator: Annotator, study: Study | None) -> list[outcomes.Ending]:
    """How a study ended for somebody who came to it by a link, on a page that knows no links."""
    return [each for each in outcomes.endings(annotator, now=timezone.now()) if each.link.study == study]


for spoken in (duration, about_minutes, money, percent):
    register.filter(spoken)


@register.simple_tag
def matrix_rows(matrix: Iterable[Any]) -> SafeString:
    """A row of a table for each subtopic: how many people it has, then a cell for each annotator."""
    made: dict[Any, SafeString] = {}

    def cell(task: Assignment | None, obstacles: Sequence[Obstacle]) -> SafeString:
        key = obstacles if task is None else task.state
        if key not in made:
            made[key] = _reasons(obstacles) if task is None else _state(task)
        return made[key]

    rows = (
        (
            row["subtopic"].name,
            row["n_have"],
            row["n_wanted"],
            format_html_join("", "<td>{}</td>", ((cell(*pair),) for pair in row["cells"])),
        )
        for row in matrix
    )
    return format_html_join("\n", '<tr><th scope="row">{}</th><td class="num">{} / {}</td>{}</tr>', rows)


def _state(task: Assignment) -> SafeString:
    css = "good" if task.state == Assignment.State.DONE else "accent"
    return format_html('<span class="badge {}">{}</span>', css, task.get_state_display())


def _reasons(obstacles: Sequence[Obstacle]) -> SafeString:
    """“free”, or “no” with the reasons as its title."""
    if not obstacles:
        return format_html('<span class="free">{}</span>', "free")
    why = " ".join(obstacle.text for obstacle in obstacles)
    return format_html('<span class="muted" title="{}">{}</span>', why, _("no"))


LANES = {"snapshot": 36, "save": 62, "rejected": 62, "search": 88, "flag": 114, "event": 140}
"""The upper end of each lane."""
TICK = '<line class="tick {}" x1="{}" x2="{}" y1="{}" y2="{}"><title>{}</title></line>'
EVENT = '<tr><td>{}</td><td class="num">{}</td><td>{}</td><td>{}</td></tr>'


@register.simple_tag
def timeline_ticks(marks: Iterable[Mark]) -> SafeString:
    """A line of SVG for each mark, in its lane."""
    placed = ((mark, f"{mark.per_mille:g}", LANES[mark.lane]) for mark in marks)
    return format_html_join("\n", TICK, ((mark.lane, x, x, top, top + 16, mark.label) for mark, x, top in placed))


@register.simple_tag
def event_rows(events: Iterable[Any]) -> SafeString:
    """A row of a table for each event: when, the active minutes, what, and its details."""
    return format_html_join(
        "\n",
        EVENT,
        (
            (
                f"{localtime(event.at):%H:%M:%S}",
                minutes(event.active_ms),
                event.type,
                " ".join(f"{name}: {value}" for name, value in event.payload.items()),
            )
            for event in events
        ),
    )


@register.simple_tag(takes_context=True)
def study_parts(context: RequestContext, study: Study, here: str) -> list[Part]:
    """The parts of a study that this user may see; `here` is the page that is shown."""
    return parts_of(study, here=here, may=context["request"].user.has_perm)


@register.simple_tag
def study_url(study: Study) -> str:
    return reverse(kind_named(study.kind).study_page, args=[study.uid])


@register.simple_tag
def task_about(kind: LabelWork, task: LabelTask) -> Remark:
    return kind.about(task)


@register.simple_tag
def study_preview(study: Study) -> str:
    """Where researchers see the page of annotators; empty where there is none."""
    kind = kind_named(study.kind)
    if not isinstance(kind, Work) or not has_plan(study):
        return ""
    return reverse("annotation:study-preview", args=[study.uid])


@register.simple_tag
def study_downloads(study: Study) -> list[tuple[str, Text]]:
    """Single files of a study: its labels as a table, and where its other files are."""
    kind = kind_named(study.kind)
    if not isinstance(kind, Work):
        return []
    address = reverse("annotation:study-labels", args=[study.uid, "csv"])
    return [*((address, title) for _which, title in kind.label_files[:1]), *_other_files(study, kind)]


@register.inclusion_tag("annotation/_label_files.html", takes_context=True)
def label_files(context: RequestContext, study: Study) -> dict[str, object]:
    """Buttons for what can be downloaded of a study: its labels, and other files unless this is their page."""
    work = work_of(study)
    here = context["request"].path
    others = [(url, label) for url, label in _other_files(study, work) if url != here]
    return {"study": study, "files": work.label_files, "formats": label_formats(), "others": others}


def _other_files(study: Study, kind: Work) -> list[tuple[str, Text]]:
    return [(reverse(page, args=[study.uid]), label) for page, label in kind.downloads]


@register.simple_tag
def decide_url(row: Any, study: Any, deciding: Mapping[tuple[str, str], Any] | None) -> str:
    """Where a row is decided: in its study, else in the one that `deciding` names; empty if nowhere."""
    uid = study.uid if study else (deciding or {}).get((row.summary_uid, row.insight_uid))
    if not uid or not row.summary_uid:
        return ""
    return reverse("annotation:dispute", args=[uid, row.summary_uid, row.insight_uid])
