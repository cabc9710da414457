"""The pages of a study, for its head and for lists."""

from __future__ import annotations

from django import template
from django.urls import reverse

from annotation.kinds import kind_named
from annotation.models import Study
from annotation.studies.kind import Tab, tabs_of, work_of

register = template.Library()


@register.simple_tag
def study_tabs(study: Study) -> list[Tab]:
    """The pages of a study in their order."""
    return tabs_of(study)


@register.simple_tag
def study_url(study: Study) -> str:
    """The page of a study, by its kind."""
    return reverse(kind_named(study.kind).study_page, args=[study.uid])


@register.inclusion_tag("annotation/_label_files.html")
def label_files(study: Study) -> dict[str, object]:
    """Buttons for what can be downloaded of the labels of a study."""
    return {"study": study, "files": work_of(study).label_files}
