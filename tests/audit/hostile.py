"""Texts that attack whoever shows, counts, compiles or opens them; `soak` puts them into a database."""

import json
from contextlib import suppress
from itertools import cycle

from django.apps import apps
from django.conf import settings
from django.db import IntegrityError, models, transaction

CANARY = "hostile"
"""What a script that got through sets on the window."""
RUN = f"window.{CANARY}=1"
TEXTS = (
    f"<script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"[link](javascript:{RUN})",
    f"</textarea></title></script><script>{RUN}</script>",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd",
    "-2+3+cmd",
    "\u202egnp.exe \u202d",
    "zero\u200bwidth\u2060\ufeff",
    "a NUL \x00 in it",
    "half of a pair \ud83d",
    "emoji 👩🏽‍🔬🏳️‍🌈 ﷽",
    "{{ 7*7 }} {% load x %} ${7*7} <%= 7*7 %> %(title)s {0}",
    "# Head\n---\n| a | b |\n<b>bold</b>",
    "\\input{/etc/passwd} \\write18{id} $x^2$ & 100% _a_ ^ ~ # {",
    '", "injected": {"a": [',
    'a,"b"\r\n=1+1;\tc',
    "x" * 1_000_000,
)

SOAKED = {
    "accommodation_note", "answer", "body", "category", "comment", "completion_code", "condition",
    "contact", "description", "domain", "draft_text", "error", "file_name", "label", "message", "name",
    "note", "notes_text", "object_name", "panel_id", "problem", "query", "quote", "reason", "return_url",
    "skip_reason", "summarizer", "text", "title", "topic", "void_reason", "withdrawn_reason",
}  # fmt: skip
"""Fields that hold what somebody wrote, by name; the others hold keys, codes and sums of the program."""
ROWS = 300
KEEPS = {"JudgeRun.reason", "Result.name", "Result.reason", "SynthesisStep.name", "SynthesisDecision.reason",
         "WorkerHeartbeat.name", "LastTime.name", "SourceDataset.name", "EntailmentLabel.answer",
         "KeyPointVerdict.answer"}  # fmt: skip
"""Codes of the program all the same, and names by which rows find each other."""


def soak() -> int:
    """Add a hostile text to each field of people's words, in up to `ROWS` rows of each table; gives how many."""
    stored = cycle([text[:5000] for text in TEXTS if "\x00" not in text and "\ud83d" not in text])
    n = 0
    for model in apps.get_models():
        if model._meta.app_label not in {"annotation", "benchmarks", "summhay_site", *settings.EXTENSIONS}:
            continue
        for field in model._meta.concrete_fields:
            is_text = isinstance(field, models.CharField | models.TextField) and not field.choices
            if not is_text or field.name not in SOAKED or f"{model.__name__}.{field.name}" in KEEPS:
                continue
            rows = model._base_manager.order_by("pk").values_list("pk", field.name)[:ROWS]
            for pk, was in list(rows):
                soaked = f"{was} {next(stored)}" if was else next(stored)
                with suppress(IntegrityError), transaction.atomic():  # a name may be too long to stay apart
                    model._base_manager.filter(pk=pk).update(**{field.name: soaked[: field.max_length or None]})
                    n += 1
    return n


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps({"fields": soak()}))
