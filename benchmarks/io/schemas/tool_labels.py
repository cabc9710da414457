"""Labels in the files of other tools: each answer a row of named columns, and a mapping of the columns to labels.

Label Studio, Argilla, Potato, doccano, Prodigy and nuggetizer are known by their fields; any other file is a table
whose columns are what they are called. A mapping gives rows as `plain_labels` reads them.
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, BinaryIO, ClassVar, TypeVar, Unpack

from pydantic import BeforeValidator, ConfigDict, Field

from benchmarks.io.reading import files, jsonlines, tables
from benchmarks.io.reading.problems import Got, Problems
from benchmarks.io.reading.tables import Numbered
from benchmarks.io.schemas.fields import Expected, Part, checked, label, null_as
from benchmarks.io.schemas.plain_labels import LENGTHS, MAX_CATEGORIES

T = TypeVar("T")
TABLE = "a table"
COLUMNS = ("item", "text", "question", "annotator", "value")
"""Columns that come first; what else the records of a tool hold follows."""
MOST_COLUMNS, MOST_QUESTIONS, MOST_SHOWN, SHOWN_CHARACTERS = 60, 30, 8, 80
USUAL = {
    "item": ("item", "id", "instance_id", "task_id", "example_id"),
    "annotator": ("annotator", "rater", "user", "user_id", "worker_id", "username"),
    "label": ("value", "label", "rating", "answer", "choice", "sentiment"),
    "cluster": ("cluster",),
    "links": ("links", "lines"),
}
"""Names of columns that say what they are, the most telling first."""
OURS = {
    "support": "full", "partial_support": "partial", "not_support": "none",
    "full_coverage": "full", "partial_coverage": "partial", "no_coverage": "none",
    "fully_covered": "full", "partially_covered": "partial", "not_covered": "none",
    **{word: word for word in ("yes", "no", "neutral", "agree", "disagree", "full", "partial", "none")},
}  # fmt: skip
"""Labels of studies here for what others call them, whatever its case."""


def _scalar(value: Any) -> str | None:
    """A text, number or truth value as a label is written; None for anything else."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() if isinstance(value, str | int | float) else None


def _said(value: Any) -> str | None:
    """An answer as one label: of several that were chosen all, parted by semicolons; None where it is no label."""
    if not isinstance(value, list):
        return _scalar(value)
    parts = [_scalar(part) for part in value]
    return None if None in parts else "; ".join(filter(None, parts))


def _name(value: Any) -> Any:
    """A name, or a number in its place; of a person by whatever tells them apart."""
    if isinstance(value, dict):
        value = value.get("id") or value.get("username") or value.get("email")
    return "" if value is None else _scalar(value)


Name = Annotated[str, BeforeValidator(_name), Expected("a text, a number, or nothing")]
Object = Annotated[dict[str, Any], null_as(dict), Expected("an object")]
Many = Annotated[list[T], null_as(list), Expected("a list of objects")]
ByQuestion = Annotated[dict[str, T], null_as(dict), Expected("answers by the name of the question")]


def _row(
    where: str, item: str, question: str, annotator: str, said: Any, about: Mapping[str, Any], *, by: str = ""
) -> Numbered:
    """An answer as a row; what a model gave is `by` a judge."""
    judged = {"is_judge": "true"} if by else {}
    answer = {"item": item, "question": question, "annotator": by or annotator, "value": said}
    return where, {**about, **answer, **judged}


def _is_name(name: str) -> bool:
    return len(name) <= SHOWN_CHARACTERS and "\x00" not in name


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Texts and numbers of an object, and lists of them, as columns."""
    cells = ((name, _said(value)) for name, value in values.items() if _is_name(name))
    return {prefix + name: cell for name, cell in cells if cell is not None}


class Record(Part):
    """What a tool writes of one item. `MARKS` are fields by which its files are known."""

    EXPECTED = "an object"
    TOOL: ClassVar[str]
    MARKS: ClassVar[tuple[frozenset[str], ...]]

    def rows(self, where: str, sheet: Sheet) -> Iterator[Numbered]:
        """All answers on the item; `sheet` counts those that are left out."""
        raise NotImplementedError


class StudioResult(Part):
    """One answer of an annotation, in the words of its control."""

    EXPECTED = "an object"
    from_name: Name = ""
    type: Name = ""
    value: Object = Field(default_factory=dict)

    def said(self) -> str | None:
        """The label; None of a passage or a region, which is none."""
        kind = {"pairwise": "selected", "textarea": "text"}.get(self.type, self.type)
        return None if "start" in self.value else _said(self.value.get(kind))


class StudioAnnotation(Part):
    """All that one person, or one version of a model, said of a task."""

    EXPECTED = "an object"
    completed_by: Name = ""
    model_version: Name = ""
    was_cancelled: Annotated[bool, null_as(bool), Expected("true or false")] = False
    result: Many[StudioResult] = Field(default_factory=list)


ONLY_A_NUMBER = StudioAnnotation()
Made = Annotated[StudioAnnotation, BeforeValidator(lambda value: ONLY_A_NUMBER if type(value) is int else value)]
"""What was said of a task, or only its number."""


class LabelStudio(Record):
    """A task of Label Studio; its predictions are a judge's."""

    TOOL = "Label Studio"
    MARKS = (frozenset({"data", "annotations"}), frozenset({"data", "predictions"}))
    id: Name = ""
    data: Object
    annotations: Many[Made] = Field(default_factory=list)
    predictions: Many[Made] = Field(default_factory=list)

    def rows(self, where: str, sheet: Sheet) -> Iterator[Numbered]:
        data = _flat(self.data, "data.")
        for name, is_judge in (("annotations", False), ("predictions", True)):
            for number, made in enumerate(getattr(self, name)):
                at = f"{where}, {name}[{number}]"
                if made is ONLY_A_NUMBER:
                    sheet.leave_out("number_of_prediction", at, "only the number of a prediction")
                    continue
                if made.was_cancelled:
                    sheet.leave_out("cancelled", at, "a cancelled annotation")
                    continue
                by = (made.model_version or "predictions") if is_judge else ""
                for place, result in enumerate(made.result):
                    here, question = f"{at}.result[{place}]", result.from_name
                    yield _row(here, self.id, question, made.completed_by, result.said(), data, by=by)


class ArgillaValue(Part):
    """What a person answered, or a model proposed."""

    EXPECTED = "an object"
    value: Any = None
    agent: Name = ""
    user_id: Name = ""
    status: Name = ""


class Argilla(Record):
    """A record of Argilla; its suggestions are a judge's."""

    TOOL = "Argilla"
    MARKS = (frozenset({"fields", "responses"}), frozenset({"fields", "suggestions"}))
    id: Name = ""
    fields: Object
    metadata: Object = Field(default_factory=dict)
    suggestions: ByQuestion[ArgillaValue] = Field(default_factory=dict)
    responses: ByQuestion[list[ArgillaValue]] = Field(default_factory=dict)

    def rows(self, where: str, sheet: Sheet) -> Iterator[Numbered]:
        about = {**_flat(self.fields, "fields."), **_flat(self.metadata, "metadata.")}
        for question, responses in self.responses.items():
            for number, made in enumerate(responses):
                at = f"{where}, responses.{question}[{number}]"
                if made.status in {"discarded", "draft"}:
                    sheet.leave_out("discarded", at, "a response that was discarded or not submitted")
                else:
                    yield _row(at, self.id, question, made.user_id, _said(made.value), about)
        for question, hint in self.suggestions.items():
            at, by = f"{where}, suggestions.{question}", hint.agent or "suggestions"
            yield _row(at, self.id, question, "", _said(hint.value), about, by=by)


class Potato(Record):
    """What one user of Potato said of an instance."""

    TOOL = "Potato"
    MARKS = (frozenset({"instance_id", "labels"}),)
    WRITTEN: ClassVar = frozenset({"number", "text_box", "slider", "free_response"})
    """Labels of controls whose value is what somebody wrote; of others it is the label that was chosen."""
    instance_id: Name
    user_id: Name = ""
    annotator_origin: Object = Field(default_factory=dict)
    labels: Object

    def rows(self, where: str, sheet: Sheet) -> Iterator[Numbered]:
        by = "" if self.annotator_origin.get("kind", "human") == "human" else self.user_id
        for question, chosen in self.labels.items():
            said = _said(chosen)
            if isinstance(chosen, dict):
                said = _said([value if name in self.WRITTEN else name for name, value in chosen.items()])
            at = f"{where}, labels.{question}"
            yield _row(at, self.instance_id, question, self.user_id, said, {}, by=by)


class Prodigy(Record):
    """A task of Prodigy: a label that is accepted or rejected, or the options that were chosen."""

    TOOL = "Prodigy"
    MARKS = (frozenset({"answer", "_input_hash"}), frozenset({"answer", "_annotator_id"}))
    id: Name = ""
    text: Name = ""
    label: Name = ""
    options: Any = None
    accept: Any = None
    answer: Name
    meta: Object = Field(default_factory=dict)
    input_hash: Annotated[Name, Field(alias="_input_hash")] = ""
    annotator: Annotated[Name, Field(alias="_annotator_id")] = ""
    session: Annotated[Name, Field(alias="_session_id")] = ""

    def rows(self, where: str, sheet: Sheet) -> Iterator[Numbered]:
        if self.answer == "ignore":
            sheet.leave_out("ignored", where, "an ignored task")
            return
        is_chosen = self.options is not None and self.answer == "accept"
        said = _said(self.accept) if is_chosen else self.answer
        about = {"text": self.text, **_flat(self.meta, "meta.")}
        item, who = self.id or self.input_hash or self.text, self.annotator or self.session or sheet.stem
        yield _row(where, item, self.label, who, said, about)


class Doccano(Record):
    """An example of doccano; a file is one person's, who is its name, or everybody's."""

    TOOL = "doccano"
    MARKS = (frozenset({"id", "text", "label"}), frozenset({"id", "data", "label"}))
    model_config = ConfigDict(extra="allow")
    id: Name
    label: Any = None

    def rows(self, where: str, sheet: Sheet) -> Iterator[Numbered]:
        yield _row(where, self.id, "", sheet.stem, _said(self.label), _flat(self.model_extra or {}))


class Nugget(Part):
    """A nugget with what the model assigned to it."""

    EXPECTED = "an object"
    id: Name = ""
    text: Name
    importance: Name = ""
    assignment: Name = ""


class Nuggetizer(Record):
    """An answer of a run, with the assignment of every nugget: a judge's, as nuggetizer is one."""

    TOOL = "nuggetizer"
    MARKS = (frozenset({"qid", "nuggets"}),)
    query: Name = ""
    qid: Name
    run_id: Name = ""
    nuggets: Many[Nugget]

    def rows(self, where: str, sheet: Sheet) -> Iterator[Numbered]:
        about = {"query": self.query, "qid": self.qid, "run_id": self.run_id}
        for number, nugget in enumerate(self.nuggets, 1):
            item = "/".join(filter(None, (self.qid, self.run_id, nugget.id or str(number))))
            more = {**about, "text": nugget.text, "importance": nugget.importance}
            at = f"{where}, nuggets[{number - 1}]"
            yield _row(at, item, "", "", nugget.assignment, more, by=self.TOOL)


TOOLS: tuple[type[Record], ...] = (LabelStudio, Argilla, Potato, Nuggetizer, Prodigy, Doccano)


@dataclass(slots=True)
class Sheet:
    """The answers of a file by the names of their columns; `stem` is the name of the file."""

    stem: str
    problems: Problems
    tool: str = TABLE
    rows: list[Numbered] = field(default_factory=list)

    def leave_out(self, kind: str, where: str, got: str) -> None:
        """Count an answer that is none."""
        self.problems.warning(kind, where, "", expected="an answer", got=Got(got), message="It is left out.")

    @property
    def columns(self) -> dict[str, str]:
        """Columns that hold something, with an example of each."""
        examples: dict[str, str] = {}
        for _where, row in self.rows:
            for name, cell in row.items():
                if cell and name not in examples and len(examples) < MOST_COLUMNS:
                    examples[name] = shown(cell)
        first = [name for name in COLUMNS if name in examples]
        return {name: examples[name] for name in dict.fromkeys((*first, *examples))}

    def question_of(self, row: Mapping[str, Any]) -> str:
        """What a row answers; of a table that is its task."""
        return row.get("task" if self.tool == TABLE else "question") or ""

    def values(self, column: str) -> dict[str, Counter[str]]:
        """How often each value of a column is there, by question."""
        values: dict[str, Counter[str]] = defaultdict(Counter)
        for _where, row in self.rows:
            if cell := row.get(column):
                values[self.question_of(row)][cell] += 1
        return dict(values)


def shown(value: Any) -> str:
    """A cell as pages show it."""
    text = str(value).replace("\x00", "\ufffd")
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def read(source: Path | BinaryIO, problems: Problems, *, name: str, **limits: Unpack[files.Limits]) -> Sheet:
    """All answers of a file; raises `ImportFailed` where its records are not as its tool writes them."""
    sheet = Sheet(Path(name).stem, problems)
    is_table = Path(name).suffix.lower() in {".csv", ".tsv"}
    with files.opened(source, problems, **limits) as stream:
        data = b"" if is_table else stream.read().removeprefix(files.BOM)
        if is_table:
            with tables.opened(stream, problems, required=(), name=name) as rows:
                sheet.rows = [(where, _flat(row)) for where, row in rows]
        elif data.lstrip()[:1] == b"[":
            values = jsonlines.loaded(data, problems, expected="a JSON list of records, or one on each line")
            some = enumerate(values) if isinstance(values, list) else ()
            _read_records(((f"[{number}]", value) for number, value in some), sheet)
        else:
            _read_records(jsonlines.values(io.BytesIO(data), problems), sheet)
    questions = {sheet.question_of(row) for _where, row in sheet.rows}
    if not sheet.rows and not problems.n_errors:
        problems.error("no_labels", "", "", expected="at least one label", got=Got("none"))
    elif len(questions) > MOST_QUESTIONS or not all(map(_is_name, questions)):
        expected = f"at most {MOST_QUESTIONS} questions, with names of at most {SHOWN_CHARACTERS} characters"
        problems.error("questions", "", "question", expected=expected, got=Got("more, or longer ones"))
    problems.raise_errors()
    return sheet


def _read_records(records: Iterable[tuple[str, Any]], sheet: Sheet) -> None:
    tool: type[Record] | None = None
    for number, (where, value) in enumerate(records):
        if not isinstance(value, dict):
            sheet.problems.error("wrong_type", where, "", expected="an object", got=value)
            continue
        if number == 0:
            tool = next((entry for entry in TOOLS if any(mark <= value.keys() for mark in entry.MARKS)), None)
            sheet.tool = tool.TOOL if tool is not None else TABLE
        if tool is None:
            sheet.rows.append((where, _flat(value)))
        elif (record := checked(tool, value, where, sheet.problems)) is not None:
            for at, row in record.rows(where, sheet):
                if row["value"] is None:
                    sheet.leave_out("no_label", at, "a passage, a ranking or another answer that is no label")
                else:
                    sheet.rows.append((at, row))


class QuestionPart(Part):
    """What becomes of the answers to one question: the task that they are of, and the label of each value."""

    EXPECTED = "an object"
    is_taken: bool = True
    task: label(LENGTHS["task"]) = ""  # type: ignore[valid-type]
    values: dict[str, str] = Field(default_factory=dict)


class MappingPart(Part):
    """Which columns hold what, and what becomes of each question; two of the item are joined by a slash."""

    EXPECTED = "a mapping as the page of an import shows it"
    item: Annotated[list[str], Field(min_length=1, max_length=2), Expected("one or two names of columns")]
    annotator: str
    label: str
    cluster: str = ""
    links: str = ""
    categories: str = ""
    questions: dict[str, QuestionPart] = Field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """All columns that it names."""
        return [name for name in (*self.item, self.annotator, self.label, self.cluster, self.links) if name]

    def fits(self, sheet: Sheet) -> bool:
        """Whether a file has its columns, and the same questions."""
        return set(self.columns) <= set(sheet.columns) and set(self.questions) == set(sheet.values(self.label))


def guessed(sheet: Sheet, *, label: str = "") -> MappingPart:
    """A mapping by the names of columns; of several questions those with labels are taken, each as a task."""
    columns = sheet.columns
    names = {use: next((name for name in usual if name in columns), "") for use, usual in USUAL.items()} | (
        {"label": label} if label else {}
    )
    first = next(iter(columns), "")
    values = sheet.values(names["label"] or first)
    taken = [question for question, counts in values.items() if _are_labels(counts)] or list(values)
    questions = {
        question: QuestionPart(
            is_taken=question in taken,
            task=question[: LENGTHS["task"]] if len(taken) > 1 else "",
            values={value: ours for value in counts if (ours := OURS.get(value.lower(), value)) != value},
        )
        for question, counts in values.items()
    }
    return MappingPart(
        item=[names["item"] or first],
        annotator=names["annotator"] or first,
        label=names["label"] or first,
        cluster=names["cluster"],
        links=names["links"],
        questions=questions,
    )


def _are_labels(counts: Mapping[str, int]) -> bool:
    return len(counts) <= MAX_CATEGORIES and all(
        len(value) <= LENGTHS["label"] and "\x00" not in value for value in counts
    )


def mapped(sheet: Sheet, mapping: MappingPart) -> Iterator[Numbered]:
    """Rows as plain labels have them; raises `ImportFailed` where the file lacks a column of the mapping."""
    columns = sheet.columns
    for name in dict.fromkeys(mapping.columns):
        if name not in columns:
            expected = f"one of the columns {', '.join(columns)}"
            sheet.problems.error("missing_column", "", "mapping", expected=expected, got=name)
    sheet.problems.raise_errors()
    for where, row in sheet.rows:
        question = mapping.questions.get(sheet.question_of(row), QuestionPart())
        if not question.is_taken:
            continue
        value = row.get(mapping.label) or ""
        said = question.values.get(value, value).strip()
        if value and not said:
            sheet.leave_out("not_taken", where, f"“{shown(value)}”, which the mapping leaves out")
        plain = {
            "annotator": row.get(mapping.annotator),
            "item": "/".join(row.get(name) or "" for name in mapping.item),
            "label": said,
            "cluster": row.get(mapping.cluster),
            "task": question.task,
            "links": row.get(mapping.links),
            "is_judge": row.get("is_judge"),
        }
        yield where, plain


def look(sheet: Sheet, mapping: MappingPart) -> dict[str, Any]:
    """Columns and values of each question for the page of an import, in lists: JSON of PostgreSQL sorts keys."""
    values = sheet.values(mapping.label)
    return {
        "tool": sheet.tool,
        "columns": list(sheet.columns.items()),
        "mapping": mapping.model_dump(),
        "questions": [
            (question, list(counts.items()) if _are_labels(counts) else [])
            for question, counts in sorted(values.items())
        ],
    }
