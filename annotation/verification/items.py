"""Verification studies: which questions they take, how they are set up, and how simulated people answer."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Unpack

from django import forms
from django.db import transaction
from django.db.models import Count, QuerySet
from django.urls import reverse
from django.utils.formats import number_format

from annotation.labelling.simulating import Chosen, Played, Rates, Said, Simulated, mistaken
from annotation.models import LabelItem, Study, VerificationPlan
from annotation.studies.dealing import Item, control_group, sample, stable_seed
from annotation.studies.estimates import (
    NarrowedForm,
    Sizes,
    any_of,
    narrowed_to,
    part_of,
    seed_of_draw,
    size_of_sample,
)
from annotation.studies.forms import (
    NARROWS_FIRST,
    NARROWS_FIRST_HELP,
    NewStudyForm,
    PlanForm,
    TrialFields,
    percent,
)
from annotation.studies.kind import NotPossible, work_of
from annotation.studies.lifecycle import NewStudy, new_study
from annotation.verification.answers import POINT, Judgments
from benchmarks import audit
from benchmarks.models import KeyPoint, Question
from benchmarks.states import Grounded, Keyness

WAYS = [("all", "all"), ("sample", "a random sample, stratified by category and domain")]


class QuestionsForm(NarrowedForm):
    """Which questions: of which set, of which categories and domains, all of them or a sample.

    Only the categories and domains of the chosen set can be chosen from.
    """

    NARROWED_BY = ("category", "domain")
    ITEMS = ("dataset", "way", "n_sample", "seed")

    dataset = forms.ChoiceField(label="Question set")
    category = any_of("Categories")
    domain = any_of("Domains")
    way = forms.ChoiceField(label="How many", choices=WAYS, initial="all", widget=forms.RadioSelect)
    n_sample = size_of_sample()
    seed = seed_of_draw("The same seed draws and assigns the same. Blank: taken from the name of the study.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = Question.objects.filter(archived_at=None)
        sets = self._offer("dataset", rows)
        chosen = self["dataset"].value()
        of_set = rows.filter(dataset=chosen if chosen in sets else next(iter(sets), ""))
        for name in self.NARROWED_BY:
            self._offer(name, of_set)

    def _offer(self, name: str, rows: QuerySet[Question, Question]) -> list[str]:
        values = list(rows.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct())
        self.fields[name].choices = [(value, value) for value in values]  # type: ignore[attr-defined]
        return values

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("way") == "sample" and not data.get("n_sample"):
            self.add_error("n_sample", "How many questions?")
        return data

    def chosen(self, *, seed: int) -> list[Question]:
        """The questions that have key points; `seed` is used where the form has none."""
        data = self.cleaned_data
        questions = list(_matching(self.cleaned_data))
        if data["way"] == "all":
            return questions
        return draw_questions(questions, data["n_sample"], seed=seed if data["seed"] is None else data["seed"])

    def count(self) -> tuple[int, int]:
        n = _matching(self.cleaned_data).count()
        return min(n, self.cleaned_data["n_sample"]) if self.cleaned_data["way"] == "sample" else n, n

    def words(self, count: tuple[int, int] | None) -> str:
        which = "questions" if count is None else part_of(*count, "question", "questions")
        sets = [name for name, _label in self.fields["dataset"].choices]  # type: ignore[attr-defined]
        return f"{which} of {self['dataset'].value() or sets[0]}" if sets else ""

    def sizes(self, count: tuple[int, int]) -> Sizes:
        """Key points of the questions that are drawn, and how many of them are in the control group.

        The control group is of whole questions; it is drawn here as for the study that the form makes.
        """
        chosen: int | None = self.cleaned_data["seed"]
        seed = stable_seed("study", self.data.get("name", "").strip()) if chosen is None else chosen
        questions = self.chosen(seed=seed)
        points = KeyPoint.objects.filter(question__in=_matching(self.cleaned_data)).order_by()
        n_of = dict(points.values_list("question").annotate(n=Count("pk")))
        items = [Item(row.pk, (row.category, row.domain)) for row in questions]
        control = control_group(items, seed=seed, share=self._share_for_everyone())
        n = sum(n_of[row.pk] for row in questions)
        return Sizes(n, n, len(questions), sum(n_of[pk] for pk in control))

    def _share_for_everyone(self) -> Fraction:
        """The control group that the whole form asks for; none where it is wrong, which the form says then."""
        field = forms.DecimalField(min_value=0, max_value=100, required=False)
        try:
            return Fraction(field.clean(self.data.get("control_percent")) or 0) / 100
        except forms.ValidationError:
            return Fraction(0)


class VerificationStudyForm(TrialFields, NewStudyForm, QuestionsForm, PlanForm):
    """All settings of a new verification study; shares in percent."""

    FIRST = ("annotators", "people_per_question", "control_percent")
    SAID: ClassVar[Mapping[str, tuple[str, str]]] = {
        **TrialFields.SAID,
        "n_attention_checks": ("{} attention checks", "no attention checks"),
    }

    control_percent = forms.DecimalField(
        label="Given to everyone, percent of the questions",
        min_value=0,
        max_value=100,
        decimal_places=2,
        help_text=(
            "The control group, on which agreement is measured. Annotators cannot tell which questions are in it."
        ),
    )
    people_per_question = forms.IntegerField(label="Annotators per other question", min_value=1, max_value=50)
    n_attention_checks = forms.IntegerField(
        label="Attention checks",
        min_value=0,
        max_value=200,
        help_text="Key points of other questions, among those that everyone gets. They count in no figure.",
    )
    plain_percent = forms.DecimalField(
        label="Key points without a highlight, percent",
        min_value=0,
        max_value=100,
        decimal_places=2,
        help_text="To measure how much the highlight influences answers.",
    )

    class Meta:
        model = VerificationPlan
        fields = ("people_per_question", "n_attention_checks", "narrows_first")
        labels = {"narrows_first": NARROWS_FIRST}
        help_texts = {"narrows_first": NARROWS_FIRST_HELP}

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if data.get("n_attention_checks") and not data.get("control_percent"):
            self.add_error("n_attention_checks", "Attention checks need questions that everyone gets.")
        return data

    @property
    def lacks(self) -> tuple[str, str, str] | None:
        """That there is no question set to choose, and where one is imported."""
        if self.fields["dataset"].choices:  # type: ignore[attr-defined]
            return None
        address = reverse("benchmarks:import-new") + "?format=long2rag"
        return ("There is no question set yet. Import one first.", "Import questions", address)

    @classmethod
    def shown(cls, plan: VerificationPlan) -> dict[str, Any]:
        shares = {"control_percent": plan.control_share, "plain_percent": plan.share_without_highlight}
        return super().shown(plan) | {name: percent(share) for name, share in shares.items()}

    def plan(self) -> Any:
        self.instance.control_share = self.cleaned_data["control_percent"] / 100
        self.instance.share_without_highlight = self.cleaned_data["plain_percent"] / 100
        return self.instance


def largest_set(seed: int) -> dict[str, Any]:
    """Values of a form that takes the question set with most key points."""
    return {"seed": seed, **({"dataset": first[0]} if (first := _sizes_of_sets().first()) else {})}


def lacking(n: int) -> str:
    """Missing parts to verify n key points of one question set; empty where the largest has as many."""
    _dataset, n_found = _sizes_of_sets().first() or ("", 0)
    if not n_found:
        return "No question with key points is here yet: import a question set, or make one by synthesis."
    if n_found >= n:
        return ""
    n_here, n_all = (number_format(number, force_grouping=True) for number in (n_found, n))
    return f"Only {n_here} of {n_all} key points are here: all are taken."


def _sizes_of_sets() -> Any:
    """The question sets with how many key points each has, the largest first."""
    rows = KeyPoint.objects.filter(question__archived_at=None).exclude(question__dataset="").order_by()
    return rows.values_list("question__dataset").annotate(n=Count("pk")).order_by("-n", "question__dataset")


def choice_of(study: Study) -> dict[str, Any]:
    """Values that choose its questions again: all that match, or a sample of as many; none where it has none."""
    chosen = Question.objects.filter(label_items__study=study).distinct()
    first = chosen.first()
    if first is None:
        return {}
    which: dict[str, Any] = {"dataset": first.dataset}
    offered = Question.objects.filter(archived_at=None, dataset=first.dataset)
    for name in QuestionsForm.NARROWED_BY:
        which[name] = narrowed_to(
            chosen.values_list(name, flat=True), offered.exclude(**{name: ""}).values_list(name, flat=True)
        )
    n = chosen.count()
    return which | ({"way": "sample", "n_sample": n} if n < _matching(which).count() else {"way": "all"})


def _matching(which: Mapping[str, Any]) -> QuerySet[Question, Question]:
    rows = Question.objects.filter(archived_at=None, dataset=which["dataset"], key_points__isnull=False)
    for name in QuestionsForm.NARROWED_BY:
        if which[name]:
            rows = rows.filter(**{f"{name}__in": which[name]})
    return rows.order_by("pk").distinct()


IN_A_QUERY = 500


class NoRoomForChecks(NotPossible):
    """Attention checks sit among the questions that everyone gets, and there is no such question."""

    field = "n_attention_checks"


@transaction.atomic
def create_study(
    *,
    plan: VerificationPlan,
    questions: Iterable[Question],
    **values: Unpack[NewStudy],
) -> Study:
    """Make a verification study with its items and tasks, not yet open; its maker is one of its researchers.

    Raises:
        NoRoomForChecks: attention checks are wanted and nothing is given to everyone.
    """
    by, now = values["by"], values["now"]
    study = new_study(Study.Kind.VERIFICATION, plan=plan, **values)
    add_questions(study=study, questions=questions, by=by, now=now)
    work_of(study).deal(study=study, by=by, now=now)
    return study


def draw_questions(questions: Iterable[Question], n: int, *, seed: int) -> list[Question]:
    """A sample stratified by category and, within it, by domain."""
    by_pk = {question.pk: question for question in questions}
    items = [Item(pk, (row.category, row.domain)) for pk, row in by_pk.items()]
    return [by_pk[item.pk] for item in sample(items, n, seed=seed, label="questions")]


@transaction.atomic
def add_questions(*, study: Study, questions: Iterable[Question], by: Any, now: datetime) -> int:
    """Add the key points of questions as items, each question once; gives how many questions are new.

    The control group is drawn among the new ones. Attention checks are made with the first questions only.

    Raises:
        NoRoomForChecks: attention checks are wanted and nothing is given to everyone.
    """
    plan = study.verification_plan
    known = set(study.label_items.values_list("question_id", flat=True).distinct())
    new = {row.pk: row for row in questions if row.pk not in known}
    points: dict[int, list[KeyPoint]] = defaultdict(list)
    keys = sorted(new)
    for start in range(0, len(keys), IN_A_QUERY):
        rows = KeyPoint.objects.filter(question__in=keys[start : start + IN_A_QUERY]).only("pk", "question_id")
        for row in rows.order_by("question", "number"):
            points[row.question_id].append(row)
    questions_asked = [Item(pk, (new[pk].category, new[pk].domain)) for pk in sorted(new) if points.get(pk)]
    if not questions_asked:
        return 0
    control = control_group(questions_asked, seed=study.seed + len(known), share=Fraction(plan.control_share))
    checks: dict[int, list[KeyPoint]] = {}
    if plan.n_attention_checks and not known:
        checks = _attention_checks(plan.n_attention_checks, control, new, points, seed=study.seed)
    pool = sorted(point.pk for rows in points.values() for point in rows)
    dice = random.Random(f"plain:{(study.seed + len(known))}")  # noqa: S311  a fair draw, not a secret
    plain = set(dice.sample(pool, round(len(pool) * Fraction(plan.share_without_highlight))))
    LabelItem.objects.bulk_create(
        [
            item
            for question in questions_asked
            for item in _items(
                study,
                new[question.pk],
                points[question.pk],
                checks.get(question.pk, ()),
                plain=plain,
                is_overlap=question.pk in set(control),
                now=now,
            )
        ],
        batch_size=IN_A_QUERY,
    )
    audit.record(actor=by, action="study.add_questions", target=study, now=now, n=len(questions_asked))
    return len(questions_asked)


def _attention_checks(
    n: int,
    control: Sequence[int],
    questions: Mapping[int, Question],
    points: Mapping[int, Sequence[KeyPoint]],
    *,
    seed: int,
) -> dict[int, list[KeyPoint]]:
    """{question of the control group: foreign key points}, of another domain where there is one."""
    if not control or len(points) < 2:
        raise NoRoomForChecks(
            "Attention checks are placed among questions that everyone gets; that takes two or more."
        )
    dice = random.Random(f"checks:{seed}")  # noqa: S311  a fair draw, not a secret
    hosts = list(control)
    dice.shuffle(hosts)
    used: set[int] = set()
    checks: dict[int, list[KeyPoint]] = defaultdict(list)
    for place in range(n):
        host = hosts[place % len(hosts)]
        strangers = [pk for pk in points if pk != host and questions[pk].domain != questions[host].domain]
        pool = [
            point
            for pk in sorted(strangers or (pk for pk in points if pk != host))
            for point in points[pk]
            if point.pk not in used
        ]
        if not pool:
            break
        point = dice.choice(pool)
        used.add(point.pk)
        checks[host].append(point)
    return checks


def _items(
    study: Study,
    question: Question,
    points: Sequence[KeyPoint],
    checks: Sequence[KeyPoint],
    *,
    plain: set[int],
    is_overlap: bool,
    now: datetime,
) -> list[LabelItem]:
    """The items of a question in the order of work; an attention check has another point's passage marked."""
    dice = random.Random(f"place:{study.seed}:{question.key}")  # noqa: S311  an order, not a secret
    rows: list[tuple[KeyPoint, int | None, str]] = [
        (point, None if point.pk in plain else point.pk, LabelItem.Role.ORDINARY) for point in points
    ]
    for check in checks:
        marked = dice.choice(points).pk
        rows.insert(dice.randint(1, len(rows)), (check, marked, LabelItem.Role.GOLD))
    return [
        LabelItem(
            study=study,
            question=question,
            key_point_id=point.pk,
            highlight_of_id=marked,
            block=f"question-{question.pk}",
            n_questions=1,
            is_overlap=is_overlap,
            role=role,
            added_at=now,
        )
        for point, marked, role in rows
    ]


CARELESS = Rates(first=0.5, second=2 / 3, seconds=2.5)
"""Somebody who does not look."""


class Truth(NamedTuple):
    """The truth of a key point; `keyness` is also known where it is not grounded."""

    grounded: bool
    keyness: str


def true_of(dice: random.Random, *, grounded_share: float = 0.9, agree_share: float = 0.7) -> Truth:
    """Draw what is true of a key point; what is not agreed is neutral twice as often as not."""
    weights = (agree_share, (1 - agree_share) * 2 / 3, (1 - agree_share) / 3)
    return Truth(dice.random() < grounded_share, dice.choices(Keyness.values, weights)[0])


def said_of(true: Truth, rates: Rates, dice: random.Random) -> Judgments:
    """Answer as somebody who confuses yes and no and, after a yes, gives another of the three answers."""
    is_grounded = true.grounded != (dice.random() < rates.first)
    keyness = mistaken(true.keyness, Keyness.values, rate=rates.second, dice=dice)
    return Judgments(Grounded.YES.value, keyness) if is_grounded else Judgments(Grounded.NO.value)


class SimulatedVerification(Simulated[Truth]):
    careless = CARELESS

    def make(self, chosen: Chosen, **values: Any) -> Study:
        questions: list[Question] = list(Question.objects.of(dataset=chosen.dataset)) if chosen.dataset else []
        if not questions:
            raise NotPossible(f"There is no question set “{chosen.dataset}”; name one with --dataset.")
        if chosen.n_items is not None:
            questions = draw_questions(questions, chosen.n_items, seed=values["seed"])
        return create_study(
            plan=VerificationPlan(
                control_share=chosen.control_share,
                people_per_question=chosen.people_per_item,
                n_attention_checks=chosen.n_attention_checks,
            ),
            questions=questions,
            **values,
        )

    def truth(self, study: Study) -> Callable[[LabelItem, random.Random], Truth]:
        """The text of an attention check cannot hold its point."""
        checks = Truth(False, Keyness.AGREE.value)
        return lambda item, dice: checks if item.role == LabelItem.Role.GOLD else true_of(dice)

    def answer(self, true: Truth, rates: Rates, dice: random.Random) -> Judgments:
        return said_of(true, rates, dice)

    def parts(self, answer: Judgments) -> Mapping[str, Hashable]:
        is_kept = (answer.grounded, answer.keyness) == (Grounded.YES, Keyness.AGREE)
        return {"grounded": answer.grounded, "keep": is_kept}

    def played(self, study: Study, known: Mapping[str, str]) -> Played:
        """Play what is `known` to be wrong; the text of an attention check cannot hold its point."""

        def answers(item: LabelItem, rates: Rates, dice: random.Random) -> Iterator[Said]:
            point: Any = item.key_point
            flaw = known.get(point.key, "")
            is_grounded = item.role != LabelItem.Role.GOLD and flaw != "not grounded"
            keyness = Keyness.DISAGREE if flaw and is_grounded else Keyness.AGREE
            yield Said(POINT, said_of(Truth(is_grounded, keyness.value), rates, dice))

        return answers


SIMULATED = SimulatedVerification()
