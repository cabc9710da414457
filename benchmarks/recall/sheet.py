"""Key point recall laid out: figures of one judge or of all, systems side by side, judges beside people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from benchmarks.recall.charts import caption_of, length_chart, names_of, part_chart
from benchmarks.recall.conditions import ConditionTable
from benchmarks.recall.extraction import Compared, Recalled
from benchmarks.recall.figures import Group
from benchmarks.recall.people import Measured, Verified
from benchmarks.recall.results import RecallFigures, stats
from benchmarks.recall.systems import PARTS, Counted, Systems
from benchmarks.results.sheet import (
    Card,
    Cards,
    Cell,
    Drawing,
    Fragment,
    Mark,
    Measure,
    Name,
    Note,
    Part,
    Row,
    Section,
    Sheet,
    Table,
    Unit,
    Value,
)
from benchmarks.scoring.keypoints import best_and_second
from benchmarks.scoring.stat import Stat

QUESTIONS = Measure("n_questions", gettext_lazy("Questions"), Unit.COUNT)
VERDICTS = Measure("n_key_points", gettext_lazy("Verdicts"), Unit.COUNT)
MACRO = Measure(
    "kpr_macro",
    gettext_lazy("KPR"),
    Unit.SHARE,
    gettext_lazy("key points that the judge finds in a response / key points judged, averaged over responses"),
    has_badge=False,
)
OTHERS = tuple(
    Measure(key, title, Unit.SHARE, how, has_badge=False)
    for key, title, how in (
        ("kpr_micro", gettext_lazy("KPR, pooled"), gettext_lazy("recall pooled over key points")),
        ("kpp", gettext_lazy("KPP, documents"), gettext_lazy("points of a response that the documents say")),
        (
            "kpf",
            gettext_lazy("KPF, documents"),
            gettext_lazy("harmonic mean of a response's recall and precision"),
        ),
        ("kpp_key_points", gettext_lazy("KPP, key points"), gettext_lazy("points that the key points say")),
        ("kpf_key_points", gettext_lazy("KPF, key points"), gettext_lazy("likewise, with these points")),
    )
)
MEASURES = (QUESTIONS, VERDICTS, MACRO, *OTHERS)
WORDS = Measure("words", gettext_lazy("Words, mean"), Unit.COUNT)
COUNTS = (
    ("n_answers", gettext_lazy("Responses")),
    ("n_unjudged", gettext_lazy("Key points without a usable verdict")),
    ("n_without_key_points", gettext_lazy("Responses without a judged key point")),
    ("n_not_extracted", gettext_lazy("Responses whose points were not extracted")),
    ("n_without_points", gettext_lazy("Responses in which no point was found")),
)
"""What is left out of figures, and of how many responses."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known beside the figures: what the judge is, what people found of judges, which key points count."""

    about: str = ""
    measured: Mapping[str, Sequence[Measured]] = field(default_factory=dict)
    checked: Stat | None = None
    verified: Verified | None = None


def titles() -> dict[str, tuple[str, str]]:
    """What responses are divided by: as a heading, and above the names of the parts."""
    return {
        "category": (_("By category"), _("Category")),
        "domain": (_("By domain"), _("Domain")),
        "document_length": (_("By words of the documents"), _("Words of the documents")),
        "response_length": (_("By words of the response"), _("Words of the response")),
    }


def sheet(figures: RecallFigures, beside: Beside, *, judge: str = "") -> Sheet:
    """All that is shown of one judge, or without one of all, each in rows of its own."""
    if not figures.judges:
        text = (
            _("No judge has verdicts on these responses yet.")
            if figures.n_responses
            else _("There are no responses here.")
        )
        start = Fragment("benchmarks/_recall_start.html", {"n_responses": figures.n_responses})
        return Sheet((Note(text, is_empty=True), start))
    own = figures.of(judge) if judge else figures
    return Sheet(
        (
            *_notes(own, beside),
            *([Cards("summary", _cards(own.by["judge"][0], beside.checked))] if judge else [_overall(own)]),
            Section("accuracy", _("How well judges agree with people"), (_accuracy(own, beside.measured),)),
            *(_systems(own, own.systems) if own.systems else ()),
            *(_by_condition(own, own.conditions) if own.conditions else ()),
            *(_parts(own, own.systems) if own.systems else ()),
            *(_judges(figures.systems) if figures.systems and len(figures.judges) > 1 else ()),
            Section("all-systems", _("All systems together"), tuple(_splits(own))),
            Section(
                "how",
                _("How this is computed"),
                (*([_overall(own)] if judge else []), Fragment("benchmarks/_recall_how.html")),
            ),
        )
    )


def _notes(own: RecallFigures, beside: Beside) -> Iterator[Note]:
    groups = own.by["judge"]
    n_verdicts = sum(group.scores.n_key_points for group in groups)
    said = [
        ngettext("judge %(judges)s", "judges %(judges)s", len(own.judges)) % {"judges": ", ".join(own.judges)},
        ngettext("%(n)d question", "%(n)d questions", own.n_questions) % {"n": own.n_questions},
        ngettext("%(n)d response", "%(n)d responses", own.n_responses) % {"n": own.n_responses},
        _("%(n)d verdicts on key points") % {"n": n_verdicts},
        _("95 % intervals resample questions"),
    ]
    if beside.verified:
        n = len(beside.verified.key_points)
        version = {"n": n, "version": beside.verified.version}
        said.append(
            ngettext("only the %(n)d key point %(version)s", "only the %(n)d key points %(version)s", n) % version
        )
    yield Note(" · ".join(said))
    if beside.about:
        yield Note(beside.about)
    for judge, n_judged in own.n_judged.items():
        if n := own.n_responses - n_judged:
            text = ngettext(
                "%(n)d response has no verdict of judge %(judge)s and is in no figure.",
                "%(n)d responses have no verdict of judge %(judge)s and are in no figure.",
                n,
            )
            yield Note(text % {"n": n, "judge": judge}, warns=True)


def _cards(group: Group, checked: Stat | None) -> tuple[Card, ...]:
    found, share = stats(group.scores), Unit.SHARE
    titles = {
        "kpr_macro": _("Recall (KPR)"),
        "kpr_micro": _("Recall, pooled over key points"),
        "kpp": _("Precision (KPP), by documents"),
        "kpf": _("F (KPF), by documents"),
        "kpp_key_points": _("Precision, by key points"),
        "kpf_key_points": _("F, by key points"),
    }
    cards = [Card(key, title, found[key], share) for key, title in titles.items()]
    if checked is not None:
        n = checked.n_items
        some = ngettext("%(n)d check", "%(n)d checks", n) % {"n": n}
        about = some if n else _("Check points on the page of a response.")
        cards.append(Card("checked", _("Extracted points that people marked right"), checked, share, about))
    return tuple(cards)


def _names(own: RecallFigures, *names: Name) -> tuple[Name, ...]:
    """Names of rows, and whose verdicts they stand on where there are several judges."""
    return (*names, Name("judge", _("Judge"), is_filter=True)) if len(own.judges) > 1 else names


def _row(own: RecallFigures, group: Group, *names: str, **more: Value | Cell) -> Row:
    values: dict[str, Any] = {
        "n_questions": group.scores.n_questions,
        "n_key_points": group.scores.n_key_points,
        **stats(group.scores),
        **more,
    }
    return Row((*names, group.judge) if len(own.judges) > 1 else names, values)


def _overall(own: RecallFigures) -> Table:
    counts = tuple(Measure(key, title, Unit.COUNT) for key, title in COUNTS)
    rows = [
        Row((one.judge,), _row(own, one, **{key: getattr(one.scores, key) for key, _title in COUNTS}).values)
        for one in own.by["judge"]
    ]
    title, names = _("All responses, and what is left out"), (Name("judge", _("Judge")),)
    return Table("overall", title, names, (*MEASURES, *counts), tuple(rows))


def _accuracy(own: RecallFigures, measured: Mapping[str, Sequence[Measured]]) -> Table | Note:
    measures = (
        Measure("n_answered", _("Verdicts answered"), Unit.COUNT),
        Measure("accuracy", _("Accuracy"), Unit.SHARE),
        Measure("weighted", _("Weighted to all verdicts"), Unit.SHARE),
        Measure("people", _("People among themselves"), Unit.SHARE),
    )
    rows = [
        Row(
            (one.study, judge) if len(own.judges) > 1 else (one.study,),
            {measure.key: getattr(one, measure.key) for measure in measures},
            url=one.address,
            marks=(Mark(_("verdict shown"), warns=True),) if one.is_shown else (),
        )
        for judge in own.judges
        for one in measured.get(judge, ())
    ]
    if not rows:
        text = _(
            "No validation study of yours has checked this judge, so it is unknown how far its figures can be "
            "trusted."
        )
        return Note(text)
    title, names = _("How well judges agree with people"), _names(own, Name("study", _("Study")))
    return Table("people", title, names, measures, tuple(rows))


def _captions(counted: Mapping[str, Counted]) -> Iterator[Note]:
    """Which questions count, by each judge."""
    for judge, one in counted.items():
        yield Note(f"{caption_of(one)}." if len(counted) == 1 else f"{judge}: {caption_of(one)}.")


def _systems(own: RecallFigures, found: Systems) -> Iterator[Section]:
    rows = tuple(_row(own, group, group.system, words=group.words) for group in found.whole)
    title, names, measures = _("Systems"), _names(own, Name("system", _("System"))), (*MEASURES, WORDS)
    table = Table("by-system", title, names, measures, rows, default="kpr_macro")
    parts: list[Part] = [*_captions(found.counted), table]
    if not all(one.n_questions for one in found.counted.values()):
        text = _("No question was answered by all systems shown. Choose fewer, or compare them on all questions.")
        parts.append(Note(text, warns=True))
    yield Section("systems", _("Systems"), tuple(parts))


def _by_condition(own: RecallFigures, found: Sequence[ConditionTable]) -> Iterator[Section]:
    measures = (
        QUESTIONS,
        VERDICTS,
        MACRO,
        Measure("difference", _("Less that from all documents"), Unit.SHARE, is_signed=True, has_badge=False),
        WORDS,
        Measure("shown_words", _("Words shown, mean"), Unit.COUNT),
        *OTHERS,
    )
    rows = [
        _row(
            own,
            Group(name, one.judge, cell.scores),
            model,
            name,
            kpr_macro=Cell(cell.scores.kpr_macro, place=cell.rank),
            difference=cell.difference,
            words=cell.response_words,
            shown_words=cell.shown_words,
        )
        for one in found
        for model, cells in one.rows
        for name, cell in zip(one.columns, cells, strict=True)
        if cell is not None
    ]
    title = _("By what was shown of the documents")
    names = _names(own, Name("model", _("Model"), is_filter=True), Name("documents", _("Documents shown")))
    about = _(
        "The difference is on the questions answered under both conditions, resampled by question. Of every model "
        "the best condition is bold and the second underlined. Models with one condition are left out."
    )
    captions = _captions({one.judge: one.counted for one in found})
    yield Section(
        "conditions", title, (*captions, Table("by-condition", title, names, measures, tuple(rows)), Note(about))
    )


def _placed(column: Mapping[str, Stat]) -> dict[str, Cell]:
    """The best and the second of a column, where there are two to compare."""
    best, second = best_and_second(column) if len(column) > 1 else (frozenset(), frozenset())
    return {
        name: Cell(stat, place=1 if name in best else 2 if name in second else 0) for name, stat in column.items()
    }


def _cross(groups: Iterable[Group], column_of: Any) -> dict[str, dict[str, Cell]]:
    """{system: {column: its recall, best and second marked}}; all groups are by one judge or in its column."""
    columns: dict[str, dict[str, Stat]] = {}
    for group in groups:
        columns.setdefault(column_of(group), {})[group.system] = group.scores.kpr_macro
    cells: dict[str, dict[str, Cell]] = {}
    for name, column in columns.items():
        for system, cell in _placed(column).items():
            cells.setdefault(system, {})[name] = cell
    return dict(sorted(cells.items()))


def _parts(own: RecallFigures, found: Systems) -> Iterator[Section]:
    """Recall of systems in each part with its chart, then all their figures."""
    judges, counted = list(found.counted), next(iter(found.counted.values()))
    for part in PARTS:
        rows = []
        for judge in judges:
            groups = [group for group in (*found.parts[part], *found.whole) if group.judge == judge]
            whole = {id(group) for group in found.whole}
            cells = _cross(groups, lambda group, whole=whole: "kpr_macro" if id(group) in whole else group.name)
            rows += [
                Row((system, judge) if len(judges) > 1 else (system,), values) for system, values in cells.items()
            ]
        if not rows:
            continue
        measures = [
            *(replace(MACRO, key=name, title=name) for name in names_of(found.parts[part], part)),
            replace(MACRO, title=_("all")),
        ]
        title, _name = titles()[part]
        about = _("Recall. In every column the best system is bold and the second underlined; ties share a place.")
        table = Table(
            f"systems-by-{part}", title, _names(own, Name("system", _("System"))), tuple(measures), tuple(rows),
            about=about,
        )  # fmt: skip
        drawn = part_chart(part, found.parts[part], counted) if len(judges) == 1 else None
        yield Section(f"systems-{part}", title, (table, *_drawing(drawn)))
    if len(judges) == 1:
        yield Section("words", _("Length of responses"), _drawing(length_chart(found.whole, counted)))
    yield Section("", "", (_every_figure(own, found),))


def _drawing(chart: Any) -> tuple[Drawing, ...]:
    return () if chart is None else (Drawing(chart, has_table=False),)


def _every_figure(own: RecallFigures, found: Systems) -> Table:
    """Every figure of systems in every part, as rows."""
    groups = {"all": found.whole, **{part: found.parts[part] for part in PARTS}, "judge": found.shared}
    rows = tuple(
        _row(own, one, one.system, part, "" if part == "all" else one.name)
        for part, members in groups.items()
        for one in members
    )
    names = (
        Name("system", _("System"), is_filter=True),
        Name("dimension", _("Part of the responses"), is_filter=True),
        Name("name", _("Which")),
    )
    return Table(
        "systems-in-parts", _("Every figure of systems in every part"), _names(own, *names), MEASURES, rows,
        is_folded=True, is_listing=True,
    )  # fmt: skip


def _judges(found: Systems) -> Iterator[Section]:
    parts: list[Part] = []
    if found.shared:
        cells = _cross(found.shared, lambda group: group.judge)
        measures = [
            replace(MACRO, key=judge, title=judge) for judge in sorted({one.judge for one in found.shared})
        ]
        parts = [
            Note(f"{caption_of(found.shared_counted)}."),
            Table(
                "systems-by-judge", _("Systems by judge"), (Name("system", _("System")),), tuple(measures),
                tuple(Row((system,), values) for system, values in cells.items()),
            ),
        ]  # fmt: skip
    else:
        parts = [Note(_("No question was answered by all systems and judged by all judges."), warns=True)]
    rows = [
        Row(
            (pair.first, pair.second),
            {
                "n_systems": len(pair.found.means),
                "n_questions": pair.n_questions,
                "kendall": pair.found.kendall,
                "spearman": pair.found.spearman,
                "swapped": "; ".join(
                    _("%(better)s and %(worse)s") % {"better": better, "worse": worse}
                    for better, worse in pair.found.swapped
                )
                or _("none"),
            },
        )
        for pair in found.ranking
    ]
    ranking = (
        Measure("n_systems", _("Systems"), Unit.COUNT),
        QUESTIONS,
        Measure("kendall", _("Kendall τ"), has_badge=False),
        Measure("spearman", _("Spearman ρ"), has_badge=False),
        Measure("swapped", _("Swapped"), Unit.TEXT),
    )
    about = _(
        "Rank correlation of two judges over the systems that both judged, by mean recall. 1 is the same order, "
        "−1 the reverse. Intervals resample questions; there is none under 4 systems."
    )
    names = (Name("first", _("Judge")), Name("second", _("and")))
    parts.append(Table("ranking", _("How alike judges rank systems"), names, ranking, tuple(rows), about=about))
    yield Section("judges", _("Judges"), tuple(parts))


def _splits(own: RecallFigures) -> Iterator[Table]:
    for key, (title, name) in titles().items():
        rows = tuple(_row(own, group, group.name) for group in own.by[key])
        yield Table(f"all-{key}", title, _names(own, Name(key, name)), MEASURES, rows)
    rows = tuple(_row(own, group, group.name) for group in own.by["system"])
    yield Table(
        "all-system",
        _("Each system on all its responses, whoever else answered the question"),
        _names(own, Name("system", _("System"))),
        MEASURES,
        rows,
        is_folded=True,
    )


def extraction_sheet(found: Recalled) -> Sheet:
    """How many of the points that people named are among the extracted ones, and which are not."""
    measures = (
        Measure("n", _("Points"), Unit.COUNT),
        Measure("micro", _("Found, pooled"), Unit.SHARE, has_badge=False),
        Measure("macro", _("Mean of questions"), Unit.SHARE, has_badge=False),
        Measure("accuracy", _("Says what people say"), Unit.SHARE, has_badge=False),
    )
    rows = (
        Row((_("people"),), {"n": found.n_labelled, **found.people}, is_people=True),
        Row(
            (_("offline judge"),),
            {
                "n": len(found.points),
                **found.lexical,
                **({"accuracy": found.agreement} if found.n_labelled else {}),
            },
        ),
    )
    n = found.n_questions
    about = ngettext("%(n)d question", "%(n)d questions", n) % {"n": n}
    about = _("%(questions)s; 95 %% intervals resample questions.") % {"questions": about}
    names = (Name("by", _("Looked for by")),)
    table = Table("extraction", _("Extraction recall"), names, measures, rows, about=about)
    missing = tuple(_missing(one) for one in found.not_found)
    return Sheet((table, *([_not_found(missing)] if missing else ())))


def _not_found(rows: tuple[Row, ...]) -> Section:
    names = (
        Name("question", _("Question"), is_filter=True),
        Name("system", _("Response of"), is_filter=True),
        Name("point", _("Named point")),
        Name("closest", _("Closest extracted point")),
        Name("by", _("Said by"), is_filter=True),
    )
    return Section("not-found", _("Not found"), (Table("missing", _("Not found"), names, (), rows, find="point"),))


def _missing(one: Compared) -> Row:
    said_by = _("offline judge") if one.named.found is None else _("people")
    return Row((one.named.question, one.named.system, one.named.text, one.closest, said_by), {})
