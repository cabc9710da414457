"""The pages of a study, for its head and for lists."""

from __future__ import annotations

from django import template
from django.template import RequestContext
from django.urls import reverse

from annotation.kinds import Text, kind_named
from annotation.labelling.kind import LabelWork
from annotation.models import LabelTask, Study
from annotation.studies.kind import Part, Work, has_plan, label_formats, parts_of, work_of
from annotation.studies.overview import Remark

register = template.Library()


@register.simple_tag(takes_context=True)
def study_parts(context: RequestContext, study: Study, here: str) -> list[Part]:
    """The parts of a study that this user may see; `here` is the page that is shown."""
    return parts_of(study, here=here, may=context["request"].user.has_perm)


@register.simple_tag
def study_url(study: Study) -> str:
    """The page of a study, by its kind."""
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
