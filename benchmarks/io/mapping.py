"""How the columns of another tool's file become labels: guessed, or chosen on a page and remembered by name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.db.models import Q, QuerySet

from benchmarks.io.reading import jsonlines
from benchmarks.io.reading.files import File
from benchmarks.io.reading.problems import ImportFailed, Problems
from benchmarks.io.reading.tables import Numbered
from benchmarks.io.schemas import tool_labels
from benchmarks.io.schemas.fields import checked
from benchmarks.io.schemas.plain_labels import LENGTHS
from benchmarks.io.schemas.tool_labels import MappingPart, Sheet
from benchmarks.models import ImportMapping

BY = "by"
"""Among the options of a request: who imports, by primary key. Without it no mapping is chosen by itself."""
USES = {
    "item": "Item",
    "item_2": "Item, second part",
    "annotator": "Annotator",
    "label": "Label",
    "cluster": "Cluster",
    "links": "Links",
}
NEEDED = ("item", "annotator", "label")


def rows_of(file: File, problems: Problems, options: Mapping[str, Any]) -> list[Numbered]:
    """The rows of a file as plain labels; how it was read is `problems.look`.

    Raises:
        ImportFailed: no tool writes such a file, or the mapping is not of it.
    """
    sheet = tool_labels.read(file.path, problems, name=file.name, **file.limits)
    values, name = _chosen(sheet, options)
    mapping = checked(MappingPart, values, "mapping", problems)
    if mapping is None:
        raise ImportFailed(problems)
    problems.look = {**tool_labels.look(sheet, mapping), "name": name}
    rows = list(tool_labels.mapped(sheet, mapping))
    problems.look["rows"] = [
        {name: tool_labels.shown(cell or "") for name, cell in row.items()}
        for _where, row in rows[: tool_labels.MOST_SHOWN]
    ]
    return rows


def _chosen(sheet: Sheet, options: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The values of a mapping and its name: those given as JSON or by name, else remembered, else a guess."""
    text, by = options.get("mapping", ""), options.get(BY)
    if text.startswith("{"):
        values = jsonlines.loaded(text.encode(), sheet.problems, where="mapping")
        sheet.problems.raise_errors()
        return _completed(sheet, values), options.get("mapping_name", "")
    remembered = _remembered(by)
    if text:
        named = [row for row in remembered if row.name == text]
        if not named:
            expected = f"a remembered mapping ({', '.join(row.name for row in remembered) or 'there is none'})"
            sheet.problems.error("unknown_mapping", "", "mapping", expected=expected, got=text)
            sheet.problems.raise_errors()
        return _completed(sheet, named[0].mapping), text
    for row in remembered if by is not None else ():
        if row.tool == sheet.tool and MappingPart.model_validate(row.mapping).fits(sheet):
            return row.mapping, row.name
    return _completed(sheet, {"categories": options.get("categories", "")}), ""


def _completed(sheet: Sheet, values: dict[str, Any]) -> dict[str, Any]:
    """The values of a mapping, and of what they do not say a guess."""
    column, questions = values.get("label"), values.get("questions", {})
    guess = tool_labels.guessed(sheet, label=column if isinstance(column, str) else "").model_dump()
    if isinstance(questions, dict):
        questions = {**guess["questions"], **questions}
    return {**guess, **values, "questions": questions}


def _remembered(by: int | None) -> list[ImportMapping]:
    """Mappings of one's own, then those of research groups, the newest first; all of them on the command line."""
    rows = ImportMapping.objects.all()
    if by is not None:
        rows = rows.filter(Q(created_by=by) | Q(group__isnull=False))
    return sorted(rows, key=lambda row: row.created_by_id != by)


def remember(*, name: str, about: Mapping[str, Any], by: Any, now: datetime) -> None:
    """Keep a mapping under a name; the one that its maker called so before is replaced."""
    ImportMapping.objects.update_or_create(created_by=by, name=name, defaults={**about, "saved_at": now})


def called(name: str, *, by: Any) -> QuerySet[ImportMapping]:
    """The mapping that its maker calls so, if there is one: nobody else may forget it."""
    return ImportMapping.objects.filter(created_by=by, name=name)


class MappingForm(forms.Form):
    """Which columns hold what, and which label each value becomes, of a file that was looked at."""

    categories = forms.CharField(
        required=False,
        max_length=2000,
        help_text="All labels that the task allows, in their order, as a,b,c; by default those of the file.",
    )
    name = forms.CharField(
        label="Remember as",
        required=False,
        max_length=80,
        help_text="The next file with these columns and questions is then read the same way.",
    )

    def __init__(self, data: Any = None, *, look: Mapping[str, Any]) -> None:
        mapping = look["mapping"]
        initial = {
            **mapping,
            "name": look["name"],
            "item": mapping["item"][0],
            "item_2": "".join(mapping["item"][1:]),
        }
        super().__init__(data, initial=initial)
        self.look = look
        columns = [(name, f"{name} ({example})") for name, example in look["columns"]]
        for use, label in USES.items():
            choices = columns if use in NEEDED else [("", "none"), *columns]
            self.fields[use] = forms.ChoiceField(label=label, choices=choices, required=use in NEEDED)
        self.order_fields([*USES, "categories", "name"])
        for at, (question, values) in enumerate(look["questions"]):
            part = mapping["questions"].get(question, {})
            self.fields[f"take-{at}"] = forms.BooleanField(
                label="Take these labels", required=False, initial=part.get("is_taken", True)
            )
            self.fields[f"task-{at}"] = forms.CharField(
                label="Task", required=False, max_length=LENGTHS["task"], initial=part.get("task", "")
            )
            for place, (value, _n) in enumerate(values):
                self.fields[f"value-{at}-{place}"] = forms.CharField(
                    required=False,
                    max_length=LENGTHS["label"],
                    initial=part.get("values", {}).get(value, value),
                    widget=forms.TextInput(attrs={"aria-label": f"Label for {value}"}),
                )

    def of_columns(self) -> list[forms.BoundField]:
        return [self[name] for name in (*USES, "categories")]

    def of_questions(self) -> list[tuple[str, list[forms.BoundField], list[tuple[str, int, forms.BoundField]]]]:
        """Each question with its fields, and its values with how often they are there and their fields."""
        return [
            (
                question,
                [self[f"take-{at}"], self[f"task-{at}"]],
                [(value, n, self[f"value-{at}-{place}"]) for place, (value, n) in enumerate(values)],
            )
            for at, (question, values) in enumerate(self.look["questions"])
        ]

    def mapping(self) -> dict[str, Any]:
        """What was chosen; nothing of questions where another column holds the labels, whose values nobody saw."""
        chosen: dict[str, Any] = self.cleaned_data
        questions = {
            question: {
                "is_taken": chosen[f"take-{at}"],
                "task": chosen[f"task-{at}"],
                "values": {
                    value: said
                    for place, (value, _n) in enumerate(values)
                    if (said := chosen[f"value-{at}-{place}"]) != value
                },
            }
            for at, (question, values) in enumerate(self.look["questions"])
        }
        return {
            **{name: chosen[name] for name in ("annotator", "label", "cluster", "links", "categories")},
            "item": [name for name in (chosen["item"], chosen["item_2"]) if name],
            "questions": questions if chosen["label"] == self.look["mapping"]["label"] else {},
        }
