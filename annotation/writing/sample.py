"""What the tour of the work page shows in place of documents and of a summary, before the clock runs."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import get_language, get_language_info
from django.utils.translation import gettext as _

from benchmarks.io.schemas.topics import TopicDocument


@dataclass(frozen=True, slots=True)
class Sample:
    """Documents and a summary of them, in the language of the reader."""

    language: str
    direction: str
    documents: tuple[TopicDocument, ...]
    summary: str


def sample() -> Sample:
    """The sample in the language that is active."""
    language = get_language() or "en"
    texts = {
        3: _("The documents of your task are here once the clock runs. This one says that fares rise in May."),
        7: _("Look for what several documents say. This one says so too: from May on, tickets cost more."),
    }
    return Sample(
        language=language,
        direction="rtl" if get_language_info(language)["bidi"] else "ltr",
        documents=tuple(TopicDocument(str(number), number, text, _("A sample")) for number, text in texts.items()),
        summary=_("- Fares rise in May. [3, 7]"),
    )
