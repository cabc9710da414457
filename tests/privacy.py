"""Write `docs/privacy.md` from what the models declare: `make privacy`. A test compares the two."""

from collections.abc import Iterator
from pathlib import Path

import django
from django.utils import translation

PAGE = Path(__file__).resolve().parents[1] / "docs" / "privacy.md"
HEAD = """# Privacy

What the site holds of people, why, who sees it and how long. This page is made from what is declared beside the
models (`benchmarks/personal.py` says how) by `make privacy`. A test fails where a field that holds something of a
person is not declared. Everybody who is logged in finds the same at `/privacy/`, annotators in their language, and
can download there what is held of them.

Not recorded are keystrokes, the contents of the clipboard, other pages or programs, and network addresses, but for
one day after a failed login.

When somebody is erased (page *People*), the column *erased* says what becomes of the rows. Backups hold what they
held; after a restore the same people are erased again. Settings named `RETAIN_…_DAYS` let things go earlier
([deployment](deployment.md#letting-personal-data-go)).
"""
ACTED = """## Who did what

These fields name the account that made, asked for or decided something, or an address at work, so that others know
whom to ask. Whoever may open the page of the object sees them. Once the account is erased they are empty, or name
whoever took over.
"""


def page() -> str:
    """The whole page, as Markdown."""
    with translation.override("en"):
        return "\n".join([HEAD, *_subjects(), *_acts(), *_left_out(), ""])


def _subjects() -> Iterator[str]:
    from summhay_site.privacy import by_subject

    for subject, rows in by_subject():
        yield from (f"## {subject.words}", "")
        yield from ("| what | why | who sees it | erased | fields |", "|---|---|---|---|---|")
        for held in rows:
            names = sorted(held.covered - {(held.annotator or held.user or "").split("__")[0]})
            erased = [f"{held.erased.words}", *(f"`{name}` is emptied" for name in held.emptied)]
            erased += [f"[`{held.setting}`](deployment.md#letting-personal-data-go)"] if held.setting else []
            fields = f"{held.model.__name__}: {', '.join(f'`{name}`' for name in names)}"
            yield f"| {held.what} | {held.why} | {held.seen_by.words} | {'; '.join(erased)} | {fields} |"
        yield ""


def _acts() -> Iterator[str]:
    from summhay_site.privacy import ACTS

    yield ACTED
    for act in sorted(ACTS, key=lambda act: act.model.__name__):
        yield f"- {act.model.__name__}: {', '.join(f'`{name}`' for name in act.fields)}"
    yield ""


def _left_out() -> Iterator[str]:
    from summhay_site.privacy import reasons

    yield from ("## What is not in a person's own export", "", "| why | fields |", "|---|---|")
    for reason, names in reasons():
        yield f"| {reason.words} | {', '.join(f'`{name}`' for name in names)} |"


if __name__ == "__main__":
    django.setup()
    PAGE.write_text(page())
