"""Answers of rating: a number from 1 to 5 for each of five aspects, given one after the other."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.labelling.acts import number_in, unsure_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import AnswerKind
from annotation.models import RatingLabel
from annotation.rating.aspects import name_of
from benchmarks.scoring.likert import ASPECTS, LEVELS


@dataclass(frozen=True, slots=True)
class Rated:
    """The ratings of one summary; None where an aspect is not rated yet."""

    overall: int | None = None
    informativeness: int | None = None
    quality: int | None = None
    coherence: int | None = None
    attributability: int | None = None
    is_unsure: bool = False

    @property
    def values(self) -> tuple[int | None, ...]:
        """By aspect, in their order."""
        return tuple(getattr(self, aspect) for aspect in ASPECTS)

    @property
    def is_complete(self) -> bool:
        """Whether all aspects are rated."""
        return None not in self.values


class Ratings(AnswerKind[Rated]):
    """The ratings of a summary, which are given one by one and stored together."""

    model = RatingLabel

    def parse(self, data: QueryDict) -> Rated:
        """The ratings in a form: `overall?, informativeness?, quality?, coherence?, attributability?, unsure?`.

        Raises:
            BadAct: one is no whole number.
            TaskRefused: "not sure" without any rating.
        """
        ratings = {aspect: number_in(data, aspect) for aspect in ASPECTS}
        is_any = any(value is not None for value in ratings.values())
        return Rated(**ratings, is_unsure=unsure_in(data, answer="rated" if is_any else ""))

    def checked(self, task: Any, answer: Rated) -> Rated:
        if task.item.summary_id is None:
            raise TaskRefused("not_asked", _("This is no summary to rate."))
        if not {*answer.values} <= {None, *LEVELS}:
            raise TaskRefused("invalid", _("Ratings are from 1 to 5."))
        return answer

    def columns(self, task: Any, answer: Rated) -> dict[str, Any]:
        values = asdict(answer)
        del values["is_unsure"]
        return {"summary_id": task.item.summary_id, **values}

    def answer_of(self, label: RatingLabel | None) -> Rated:
        """The ratings in a row; none of None."""
        if label is None:
            return Rated()
        ratings = {aspect: getattr(label, aspect) for aspect in ASPECTS}
        return Rated(**ratings, is_unsure=label.is_unsure)

    def in_words(self, task: Any, answer: Rated) -> str:
        """Ratings as the page names them; without any it is empty."""
        ratings = zip(ASPECTS, answer.values, strict=True)
        parts = [f"{name_of(aspect)} {value}" for aspect, value in ratings if value is not None]
        return ", ".join([*parts, _("not sure")] if answer.is_unsure else parts)

    def differing(self, first: Rated, second: Rated) -> tuple[Rated, Rated]:
        """The ratings that differ."""

        def rest(answer: Rated, other: Rated) -> Rated:
            pairs = zip(ASPECTS, answer.values, other.values, strict=True)
            ratings = {aspect: value for aspect, value, beside in pairs if value != beside}
            return Rated(**ratings, is_unsure=answer.is_unsure and not other.is_unsure)

        return rest(first, second), rest(second, first)


RATED = Ratings()
