"""What an archive says of its study in words: how it was made, on which data, by how many people, for what pay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Q, prefetch_related_objects
from django.template.loader import render_to_string

from annotation.exports.study_files import agreed_texts
from annotation.kinds import Text, kind_named
from annotation.models import ConsentText, Study
from annotation.studies.kind import Work, has_plan
from annotation.studies.removed import in_words, removed_from
from annotation.studies.rows import hashed
from benchmarks.io.schemas import long2rag
from benchmarks.io.writers.questions import questions_of
from benchmarks.models import Haystack, Question


@dataclass(frozen=True, slots=True)
class Corpus:
    """A haystack or question set that a study is about, at its data version (SHA-256), empty if not computed."""

    kind: str
    key: str
    title: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Described:
    """A study in words and counts."""

    study: Study
    kind: Text
    made_at: datetime
    n_people: int
    guideline_versions: tuple[int, ...]
    consent_texts: tuple[ConsentText, ...]
    corpora: tuple[Corpus, ...]
    is_planned: bool
    removed: Mapping[str, int] = field(default_factory=dict)
    """What was deleted because people asked for it, as `removed_from` gives it."""

    @property
    def removed_in_words(self) -> list[tuple[Any, int]]:
        """What was deleted, as rows of a table."""
        return in_words(self.removed)

    @property
    def consent_versions(self) -> tuple[int, ...]:
        """Those of the consent text that people agreed to."""
        return tuple(text.version for text in self.consent_texts)

    @property
    def guidelines(self) -> str:
        """The versions of the guidelines, as in a sentence."""
        return ", ".join(map(str, self.guideline_versions))

    @property
    def consents(self) -> str:
        """The versions of the consent text, likewise."""
        return ", ".join(map(str, self.consent_versions))

    def as_json(self) -> dict[str, Any]:
        """What the manifest holds of it; null is not known, as the pay for labels that were imported."""
        study = self.study
        return {
            "study": {
                "name": study.name,
                "id": str(study.uid),
                "kind": study.kind,
                "state": study.state,
                "seed": study.seed,
                "hourly_rate": str(study.hourly_rate) if self.is_planned else None,
                "currency": study.currency if self.is_planned else None,
                "categories": list(study.categories),
            },
            "n_annotators": self.n_people,
            "guideline_versions": list(self.guideline_versions),
            "consent_versions": list(self.consent_versions),
            "corpora": [asdict(corpus) for corpus in self.corpora],
            "removed_on_request": dict(self.removed),
        }


def described(study: Study, *, now: datetime, with_hashes: bool = True) -> Described:
    """Collect what the data sheet, the manifest and the methods section say of a study.

    Without hashes question sets have no data version: to compute it all of their texts are read.
    """
    kind = kind_named(study.kind)
    prefetch_related_objects([study], "memberships", "guidelines", "trials")
    return Described(
        study=study,
        kind=kind.label,
        made_at=now,
        n_people=len(study.memberships.all()),
        guideline_versions=tuple(sorted(row.version for row in study.guidelines.all())),
        consent_texts=tuple(agreed_texts(study)),
        corpora=tuple(_corpora(study, with_hashes=with_hashes)),
        is_planned=isinstance(kind, Work) and has_plan(study),
        removed=removed_from(study),
    )


def data_sheet(about: Described, *, files: Sequence[Any], licence: str, methods: str) -> str:
    """What is in the archive and how it came about, in Markdown."""
    context = {"about": about, "files": files, "licence": licence, "methods": methods}
    return render_to_string("annotation/datasheet.md", context)


def _corpora(study: Study, *, with_hashes: bool) -> list[Corpus]:
    items, labels = study.label_items.order_by(), study.coveragelabels.order_by()
    of_labels = Q(pk__in=items.values("summary__haystack")) | Q(pk__in=labels.values("summary__haystack"))
    of_study = of_labels | Q(subtopics__writing_plans__study=study)
    haystacks = Haystack.objects.filter(of_study).distinct().order_by("title", "pk")
    sets = items.exclude(key_point=None).values_list("key_point__question__dataset", flat=True).distinct()
    corpora = [Corpus("haystack", row.key, row.title, row.content_sha256) for row in haystacks]
    for name in sorted(sets):
        rows = Question.objects.of(dataset=name)
        sha256 = hashed(long2rag.dump(questions_of(rows))) if with_hashes else ""
        corpora.append(Corpus("question set", name, name, sha256))
    return corpora
