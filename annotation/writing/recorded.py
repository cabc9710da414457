"""What is recorded while somebody writes, in the words of the page before a session and of the page on privacy."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

RECORDED = {
    "drafts": _("The text as it is written: each version with the time at which it was typed and arrived."),
    "snapshots": _(
        "Copies of the text at even intervals of work, in most studies every ten minutes, and the final text."
    ),
    "work_periods": _("When work begins and pauses, and why the clock stopped."),
    "events": _(
        "The words searched for in the documents and how many hits there were; when the page is hidden or "
        "out of focus; long breaks; that the browser translates the documents; of pastes and copies "
        "their source and size, not the text."
    ),
    "notes": _("The notes beside the text; they are never scored."),
}
"""By the name under which `people.held` declares it."""
