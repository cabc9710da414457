"""The columns of tables of key point recall: what is measured, and what is left out of it."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from benchmarks.results.sheet import Measure, Unit

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
