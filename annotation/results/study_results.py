"""The results of a study of any kind: which figures are stored, how they are laid out, and what a page has beside.

A kind with labels has one `StudyResults`; page, files, headline and card are made from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from django.http import HttpRequest, QueryDict

from annotation.kinds import Headline, Text
from annotation.models import Study
from annotation.results.planning import Plannable, Published
from annotation.results.spending import Answers
from annotation.results.study import OfStudy
from annotation.studies.rows import origin_of
from benchmarks.results.computation import Computation
from benchmarks.results.judged import Judged
from benchmarks.results.sheet import Sheet
from benchmarks.results.stored import WAIT_S, Shown, look_up
from benchmarks.results.writing import Origin
from benchmarks.web.charts import Chart

O = TypeVar("O")  # noqa: E741 - options
F = TypeVar("F")


class StudyResults(ABC, Generic[O, F]):
    """Figures of the studies of a kind, and their layout.

    `form_template` stands above the figures and is given the `options`, the figures as `shown.figures` and what
    `beside` returns; `downloads_template` stands with the files.
    """

    computation: Computation[O, F]
    heading: Text = "Results"
    here: ClassVar[str] = "results"
    form_template = ""
    downloads_template = "annotation/_results_labels.html"
    published: ClassVar[Published | None] = None
    """What published figures say of the headline, by which a study is planned where none has labels."""
    beyond_archive: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Names, or parts of names, of figures that stand on more than an archive holds, each with why."""

    def options(self, study: Study, query: QueryDict) -> O:
        """Which figures an address asks for; nothing that is written in it can make an error."""
        return OfStudy(study.pk)  # type: ignore[return-value]

    @abstractmethod
    def sheet(self, study: Study, figures: F, query: QueryDict) -> Sheet:
        """The figures laid out; `query` is the address, for links that keep what was chosen."""

    def laid_out(
        self,
        study: Study,
        options: O,
        query: QueryDict,
        *,
        now: datetime,
        wait_s: float = WAIT_S,
        facts: object = None,
    ) -> tuple[Shown[F], Sheet | None]:
        """The stored figures of these options with their sheet, None while they are being computed."""
        shown = look_up(self.computation, options, now=now, wait_s=wait_s, facts=facts)
        if shown.figures is None:
            return shown, None
        judged = self.judged(study, options, shown.figures)
        return shown, replace(self.sheet(study, shown.figures, query), judged=judged)

    @abstractmethod
    def as_json(self, figures: F, /) -> Any:
        """The figures as `figures.json` and `manage.py report --json` give them."""

    def judged(self, study: Study, options: O, figures: F) -> Judged:
        """The judges that the figures are by; none by default."""
        return Judged()

    def headline(self, figures: F) -> Headline:
        """How many labels there are and how far people agree, in a line."""
        return Headline(0, 0, None)

    def card(self, figures: F) -> Chart | None:
        """The figures as a small chart; None before there are any."""
        return None

    def plannable(self, study: Study) -> Sequence[Plannable]:
        """The headlines whose intervals can be planned, computed now; none by default."""
        return ()

    def model_answers(self, study: Study) -> Sequence[Answers]:
        """Answers of models about the items of a study, which costs what its people cost; none by default."""
        return ()

    def settle(self, study: Study, now: datetime) -> None:
        """Called before figures are looked up: end what is due by now."""

    def beside(self, request: HttpRequest, study: Study, options: O, figures: F) -> dict[str, Any]:
        """Things that the page needs beside the figures, as a form."""
        return {}

    def was_read(self, request: HttpRequest, study: Study, figures: F) -> None:
        """Called when somebody reads page or file, who may see there what an annotator must not know."""

    def public(self, options: O) -> O:
        """The same figures with people under their pseudonyms."""
        return replace(options, is_public=True)  # type: ignore[type-var]

    def archived(self, options: O) -> O:
        """The same figures as an archive holds them, which names nobody."""
        return self.public(options)

    def judged_by(self, figures: F) -> str:
        """The judge whose verdicts all of these figures stand on; empty where it is none, or several."""
        return ""

    def chosen(self, figures: F) -> str:
        """Which part of the data these figures are of, in a few words; empty for all."""
        return ""

    def origin(self, study: Study, figures: F, *, version: str, computed_at: datetime | None = None) -> Origin:
        """Where the figures come from, as files say it."""
        return replace(
            origin_of(study),
            judge=self.judged_by(figures),
            chosen=self.chosen(figures),
            data_version=version,
            computed_at=computed_at,
        )

    def called(self, figures: F) -> str:
        """Beginning of the names of files."""
        return self.computation.name

    def first(self, study: Study) -> O:
        """The options of the page as one first opens it."""
        return self.options(study, QueryDict())

    def at_first(self, study: Study) -> F:
        """The figures of that page, computed now."""
        return self.computation.compute(self.first(study))

    def facts(self, study: Study) -> object:
        """All that these figures depend on."""
        options = self.first(study)
        return options, self.computation.facts(options)
