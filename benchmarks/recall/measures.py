"""The columns of tables of key point recall: what is measured, and what is left out of it."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from benchmarks.results.sheet import Measure, Unit

QUESTIONS = Measure("n_questions", gettext_lazy("Questions"), Unit.COUNT)
VERDICTS = Measure("n_key_points", "Verdicts", Unit.COUNT)
MACRO = Measure(
    "kpr_macro",
    "KPR",
    Unit.SHARE,
    "key points that the judge finds in a response / key points judged, averaged over responses",
    has_badge=False,
)
OTHERS = tuple(
    Measure(key, title, Unit.SHARE, how, has_badge=False)
    for key, title, how in (
        ("kpr_micro", "KPR, pooled", "recall pooled over key points"),
        ("kpp", "KPP, documents", "points of a response that the documents say"),
        (
            "kpf",
            "KPF, documents",
            "harmonic mean of a response's recall and precision",
        ),
        ("kpp_key_points", "KPP, key points", "points that the key points say"),
        ("kpf_key_points", "KPF, key points", "likewise, with these points"),
    )
)
MEASURES = (QUESTIONS, VERDICTS, MACRO, *OTHERS)
WORDS = Measure("words", "Words, mean", Unit.COUNT)
COUNTS = (
    ("n_answers", "Responses"),
    ("n_unjudged", "Key points without a usable verdict"),
    ("n_without_key_points", "Responses without a judged key point"),
    ("n_not_extracted", "Responses whose points were not extracted"),
    ("n_without_points", "Responses in which no point was found"),
)
"""What is left out of figures, and of how many responses."""
