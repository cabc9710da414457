"""Answers of rating: a number from 1 to 5 for each aspect, given one after the other and stored together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from annotation.labelling.acts import number_in, unsure_in
from annotation.labelling.handling import TaskRefused
from annotation.labelling.recording import AnswerKind
from annotation.models import RatingLabel
from benchmarks.judges.aspects import ASPECTS, n_in_words
from benchmarks.scoring.likert import LEVELS, MEAN

SOFT_HYPHEN = "\N{SOFT HYPHEN}"


def name_of(measure: str) -> str:
    """The name of an aspect, or of their mean, in the reader's language."""
    return _("mean of the %(n)s") % {"n": _(n_in_words())} if measure == MEAN else _(ASPECTS[measure].name)


def with_aspects(text: str, translated: Callable[[str], str]) -> str:
    """Guidelines with the aspects in the place of their names in braces."""
    rows = (
        f"- **{capfirst(translated(aspect.name)).replace(SOFT_HYPHEN, '')}**: {translated(aspect.guideline)}"
        for aspect in ASPECTS.values()
    )
    return text.replace("{number}", translated(n_in_words())).replace("{aspects}", "\n".join(rows))


@dataclass(frozen=True, slots=True)
class Rated:
    """The ratings of one summary by the aspects that were asked; None where one is not rated yet."""

    ratings: Mapping[str, int | None] = field(default_factory=lambda: dict.fromkeys(ASPECTS))
    is_unsure: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether all aspects are rated."""
        return None not in self.ratings.values()


class Ratings(AnswerKind[Rated]):
    """The ratings of a summary, which are given one by one and stored together."""

    model = RatingLabel

    def parse(self, data: QueryDict) -> Rated:
        """The ratings in a form, each by the key of its aspect, and `unsure?`.

        Raises:
            BadAct: one is no whole number.
            TaskRefused: "not sure" without any rating.
        """
        ratings = {aspect: number_in(data, aspect) for aspect in ASPECTS}
        is_any = any(value is not None for value in ratings.values())
        return Rated(ratings, is_unsure=unsure_in(data, answer="rated" if is_any else ""))

    def checked(self, task: Any, answer: Rated) -> Rated:
        if task.item.summary_id is None:
            raise TaskRefused("not_asked", _("This is no summary to rate."))
        if not {*answer.ratings.values()} <= {None, *LEVELS}:
            raise TaskRefused("invalid", _("Ratings are from 1 to 5."))
        return answer

    def columns(self, task: Any, answer: Rated) -> dict[str, Any]:
        return {"summary_id": task.item.summary_id, "ratings": dict(answer.ratings)}

    def answer_of(self, label: RatingLabel | None) -> Rated:
        """The ratings in a row; none of None."""
        return Rated() if label is None else Rated(label.ratings, is_unsure=label.is_unsure)

    def plain(self, answer: Rated) -> dict[str, Any]:
        return {**answer.ratings, "is_unsure": answer.is_unsure}

    def in_words(self, task: Any, answer: Rated) -> str:
        """Ratings as the page names them; without any it is empty."""
        rated = ((aspect, answer.ratings.get(aspect)) for aspect in ASPECTS)
        parts = [f"{name_of(aspect)} {value}" for aspect, value in rated if value is not None]
        return ", ".join([*parts, _("not sure")] if answer.is_unsure else parts)

    def differing(self, first: Rated, second: Rated) -> tuple[Rated, Rated]:
        def rest(answer: Rated, other: Rated) -> Rated:
            ratings = {
                aspect: value for aspect, value in answer.ratings.items() if value != other.ratings.get(aspect)
            }
            return Rated(ratings, is_unsure=answer.is_unsure and not other.is_unsure)

        return rest(first, second), rest(second, first)


RATED = Ratings()
