"""Guidelines of a study: versions that are only ever added; texts in other languages, and the field for one."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from django import forms
from django.db import transaction
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from annotation.models import Guideline, Study
from benchmarks import audit
from benchmarks.web.pages import render_markdown


def unwrapped(text: str) -> str:
    """Markdown with each paragraph and list item on one line, as it is pleasant to edit."""
    return re.sub(r"(?<!\n)\n(?!\n|#|- |\d+\. |\Z) *", " ", text)


Filled = Callable[[str, Callable[[str], str]], str]
"""Fills in what a wording leaves open, in words that the second argument translates."""
_OURS: dict[str, tuple[Path, Filled]] = {}
"""The file of each wording of our own."""


def _as_it_is(text: str, _translated: Callable[[str], str]) -> str:
    return text


def wording(module: str, name: str = "guidelines.md", *, filled: Filled = _as_it_is) -> str:
    """Our own Markdown, from a file beside a module."""
    path = Path(module).with_name(name)
    text = unwrapped(filled(path.read_text(encoding="utf-8"), str))
    _OURS[text.strip()] = path, filled
    return text


def current_guideline(study: Study) -> Guideline | None:
    """The version that applies to work begun now."""
    return study.guidelines.order_by("-version").first()


class MarkdownField(forms.CharField):
    """A long text; browsers send line breaks their own way, stored texts have one, and one at their end."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 22, "class": "markdown"})
        super().__init__(max_length=60_000, widget=widget, **kwargs)

    def clean(self, value: Any) -> str:
        return str(super().clean(value)).replace("\r\n", "\n").rstrip() + "\n"


@transaction.atomic
def publish_guideline(*, study: Study, body: str, by: Any, now: datetime) -> Guideline:
    """Add a version; the same words as now change nothing. Work already begun keeps its version."""
    Study.objects.select_for_update().get(pk=study.pk)
    newest = current_guideline(study)
    if newest is not None and newest.body == body:
        return newest
    version = 1 if newest is None else newest.version + 1
    guideline = Guideline.objects.create(study=study, version=version, body=body, created_at=now, created_by=by)
    audit.record(actor=by, action="study.guidelines", target=study, now=now, version=version)
    return guideline


def translation_of(guideline: Guideline) -> str:
    """Our own guidelines in the active language; empty in English, and where a study has a text of its own."""
    path, filled = _OURS.get(guideline.body.replace("\r\n", "\n").strip(), (None, _as_it_is))
    translated = in_active_language(path) if path else None
    if not translated or translated == path:
        return ""
    return unwrapped(filled(translated.read_text(encoding="utf-8"), gettext))


def guideline_html(guideline: Guideline | None) -> SafeString | str:
    """Guidelines as annotators read them: in their language where they are ours, else as they were written."""
    return render_markdown(translation_of(guideline) or guideline.body) if guideline else ""


def in_active_language(path: Path) -> Path:
    """The file of a text in the active language, like `help.de.md`; else `path` itself, which is English."""
    translation = path.with_suffix(f".{get_language()}{path.suffix}")
    return translation if translation.is_file() else path
