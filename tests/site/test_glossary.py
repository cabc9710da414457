"""One word for one thing, on annotators' pages in both languages (docs/terms.md)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[2]
FILLED_IN = re.compile(r"%\(\w+\)[sd]|\{\w+\}")

# English term → what its German stands under, wherever the term occurs.
GERMAN = {
    "key points?": "kernpunkt",
    "insights?": "erkenntnis",
    "bullets?": "stichpunkt",
    "summar(y|ies)": "zusammenfassung",
    "guidelines?": "richtlinie",
    "consent": "einwillig",
    "highlights?|highlighted": "hervorheb|hervorgehob",
    "not sure": "unsicher",
    "sessions?": "sitzung",
    "stud(y|ies)": "studie",
    "researchers?": "forschungsteam",
    "citations?": "quellenangabe",
    "subtopics?": "unterthem",
    "completion code": "abschlusscode",
    "active time": "aktive[nr]? zeit",
    "responses?": "antworttext",
    "skip(ped|s)?": "überspr|übergang",
    "undo": "rückgängig",
    "aspects?": "aspekt",
    "documents?": "dokument",
    "partial": "teilweise",
    "covers?|covered|coverage": "abdeck|abgedeckt|deck(t|en)",
    "flag(ged|s)?": "markier",
    "comments?": "kommentar|kommentier",
    "submit(ted|s)?": r"abgeb|abgegeb|abgab|abzugeb|\bgeben\b.*\bab\b",
    "earned|earnings": "verdien",
}  # fmt: skip
ELSEWISE = {
    "The line cites documents but does not start with a bullet mark.",
    "First do a short practice session on other documents, to get to know the page.",
    "You have finished the practice session. It is not scored.",
    "Ask the researcher who invited you.",
    "Skip to content",
}
"""Sentences in which the word means something else, or German says it without."""

# Term → words that are not used for it.
NOT_SAID = {
    "en": {
        "key point": r"key-?points?",
        "summary": r"abstracts?",
        "guidelines": r"instructions?|manuals?",
        "not sure": r"uncertain|undecided",
        "undo": r"revert",
        "submit": r"hand(ed)? in|turn(ed)? in",
        "earnings": r"wages?|salar(y|ies)|rewards?|income",
        "annotator": r"workers?|labell?ers?",
        "comment": r"remarks?",
        "log in": r"sign(ed)? ?in|log-in|logon",
        "researcher": r"supervisors?|organi[sz]ers?",
        "on its own, cover, average, support": r"for itself|middling|bears? out|does it tell|stands? in them",
    },
    "de": {
        "Aspekt": r"gesichtspunkt|kriteri",
        "Quellenangabe": r"zitation|zitierung|fußnote",
        "Kernpunkt": r"kernaussage|schlüsselpunkt|hauptpunkt",
        "Erkenntnis": r"einsicht",
        "Stichpunkt": r"aufzählungspunkt|spiegelstrich",
        "Richtlinien": r"anleitung|leitfaden|anweisung|instruktion",
        "Einwilligung": r"einverständnis|zustimmung",
        "Forschungsteam": r"forschende|forscher|wissenschaftler",
        "abgeben": r"einreich|abschick",
        "unsicher": r"nicht sicher|ungewiss",
        "Kommentar": r"anmerkung|bemerkung",
        "anmelden": r"einlog|eingeloggt|\blogin\b",
        "Sie": r"\bdu\b|\bdein(e[mnrs]?)?\b|\bdich\b|\bdir\b",
        "die gesamte aktive Zeit": r"alle aktive zeit",
    },
}


def _sentences(language: str) -> Iterator[tuple[str, str]]:
    """Each marked sentence and what it is in this language; plurals in one."""
    catalog = read_po((ROOT / f"locale/{language}/LC_MESSAGES/django.po").open("rb"), locale=language)
    for message in catalog:
        if message.id:
            said, ours = (
                FILLED_IN.sub("", " ".join(one) if isinstance(one, tuple) else str(one))
                for one in (message.id, message.string)
            )
            yield said, ours


def _texts(suffix: str) -> Iterator[tuple[str, str]]:
    """Our longer texts for annotators in one language, by name."""
    for path in sorted(ROOT.glob("annotation/*/*.md")):
        if path.name.endswith(suffix) and (suffix != ".md" or ".de." not in path.name):
            yield str(path.relative_to(ROOT)), path.read_text()


@pytest.mark.parametrize("term", GERMAN)
def test_a_term_is_one_german_word_wherever_it_occurs(term: str) -> None:
    wrong = [
        (said, ours)
        for said, ours in _sentences("de")
        if re.search(rf"\b({term})\b", said, re.IGNORECASE) and said not in ELSEWISE
        if not re.search(GERMAN[term], ours, re.IGNORECASE)
    ]
    assert wrong == []


@pytest.mark.parametrize("language", NOT_SAID)
def test_no_second_word_stands_for_a_term(language: str) -> None:
    sentences = [(said, said if language == "en" else ours) for said, ours in _sentences("de")]
    sentences += _texts(".md" if language == "en" else f".{language}.md")
    wrong = {
        (term, said[:80], match.group())
        for said, text in sentences
        for term, others in NOT_SAID[language].items()
        if (match := re.search(rf"\b({others})" + (r"\b" if language == "en" else ""), text, re.IGNORECASE))
    }
    assert wrong == set()
