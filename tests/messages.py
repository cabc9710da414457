"""The words of annotators' pages and their translations: `make messages` brings the catalogs up to date.

Run as `python -m tests.messages`. It extracts what is marked in `SOURCES`, merges it into each `django.po` under
`locale/` (a changed sentence becomes fuzzy, a new one empty, an unused one goes) and compiles it to `django.mo`.
Pages of researchers and admins are in English, so their words are in no catalog.
"""

import ast
import sys
import tokenize
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import django
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[1]
LOCALES = ROOT / "locale"
SOURCES = (
    # pages that everybody sees, and what stands on every page
    "templates/[45b]*.html",
    "templates/_[!t]*.html",
    "templates/_theme.html",
    "templates/registration/*",
    "templates/site/home.html",
    "templates/site/join.html",
    "templates/site/_reads.html",
    "templates/site/own_data.txt",
    "templates/site/privacy.html",
    "templates/site/profile.html",
    "summhay_site/accounts/forms.py#LoginForm,PasswordSetForm,ProfileForm,ForgottenForm",
    "summhay_site/accounts/institution.py",
    "summhay_site/accounts/accounts.py",
    "summhay_site/accounts/models.py",
    "summhay_site/privacy.py",
    "summhay_site/accounts/views.py",
    "summhay_site/serving/middleware.py",
    "benchmarks/web/forms.py",
    "benchmarks/web/permissions.py",
    "annotation/people/held.py",
    "benchmarks/models/personal.py",
    "benchmarks/personal.py",
    # an annotator's own pages
    "templates/annotation/_completion*.html",
    "templates/annotation/_contact.html",
    "templates/annotation/_late_*.html",
    "templates/annotation/_leftovers.html",
    "templates/annotation/_time_requests.html",
    "templates/annotation/_work_[!e]*.html",
    "templates/annotation/consent.html",
    "templates/annotation/guidelines.html",
    "templates/annotation/help.html",
    "templates/annotation/mail_reminder.txt",
    "templates/annotation/study_leave.html",
    "templates/annotation/work*.html",
    "annotation/models/sessions.py",
    "annotation/people/reminders.py",
    "annotation/states.py",
    "annotation/studies/consent.py",
    "annotation/studies/forms.py#ConsentForm,ReasonForm",
    "annotation/studies/amounts.py",
    "annotation/work/*.py",
    # writing
    "templates/annotation/_search_texts.html",
    "templates/annotation/_session_*.html",
    "templates/annotation/_tour*.html",
    "templates/annotation/session*.html",
    "annotation/writing/page_context.py",
    "annotation/writing/pages.py",
    "annotation/writing/views.py",
    # label work
    "templates/annotation/_browser_texts.html",
    "templates/annotation/_bullet_letter.html",
    "templates/annotation/_label_acts.html",
    "templates/annotation/_label_asked.html",
    "templates/annotation/_label_document*.html",
    "templates/annotation/_label_n*.html",
    "templates/annotation/_label_r*.html",
    "templates/annotation/_label_sentences.html",
    "templates/annotation/_linking_question.html",
    "templates/annotation/_trial.html",
    "templates/annotation/_trial_feedback.html",
    "templates/annotation/_unlinked_bullets.html",
    "templates/annotation/_why_not.html",
    "templates/annotation/label_*.html",
    "templates/annotation/trial_end.html",
    "templates/annotation/*_task.html",
    "annotation/labelling/acts.py",
    "annotation/labelling/handling.py",
    "annotation/labelling/task_page.py",
    "annotation/labelling/recording.py",
    "annotation/labelling/trial.py",
    "annotation/labelling/study_views.py",
    "annotation/labelling/views.py",
    "annotation/*/page_context.py",
    "annotation/*/recording.py",
    "annotation/*/answers.py",
    "annotation/*/kind.py#Words,Key",
    "annotation/rating/kind.py",
    "annotation/validation/items.py",
    "benchmarks/judges/aspects.py",
)
"""Files with words that annotators read; after a # the only classes and calls of a file that are theirs."""

KEYWORDS = DEFAULT_KEYWORDS | {
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext_lazy": ((1, "c"), 2, 3),
}


def sources() -> dict[Path, frozenset[str]]:
    """All files of `SOURCES` with the names after their #; a pattern that matches nothing is an error."""
    found: dict[Path, frozenset[str]] = {}
    for source in SOURCES:
        pattern, _, names = source.partition("#")
        paths = [path for path in ROOT.glob(pattern) if path.is_file()]
        if not paths:
            raise FileNotFoundError(pattern)
        found |= dict.fromkeys(paths, frozenset(filter(None, names.split(","))))
    return dict(sorted(found.items()))


def extracted() -> Catalog:
    """Everything that is marked in the sources, with where it stands."""
    catalog = Catalog(project="SummHay", charset="utf-8")
    for path, names in sources().items():
        place = path.relative_to(ROOT).as_posix()
        text = path.read_text()
        lines = _lines_of(text, names) if names else range(1, len(text.splitlines()) + 2)
        for line, ids, comments, context in _marked(text, place):
            if line in lines:
                catalog.add(ids, None, [(place, line)], _flags(ids), auto_comments=comments, context=context)
    return catalog


def _lines_of(code: str, names: frozenset[str]) -> set[int]:
    """The lines of the classes and calls with these names."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        is_class = isinstance(node, ast.ClassDef) and node.name in names
        if is_class or (isinstance(node, ast.Call) and getattr(node.func, "id", "") in names):
            lines |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _marked(text: str, place: str) -> Iterator[tuple[int, str | tuple[str, ...], list[str], str | None]]:
    if not place.endswith(".py"):
        # Django's own translation of a template into something like Python; one line of it is one of the template
        code = templatize(text, origin=place)
        text = "\n".join(line.strip() for line in code.splitlines())
    try:
        yield from extract("python", BytesIO(text.encode()), keywords=KEYWORDS, comment_tags=["Translators:"])
    except (tokenize.TokenError, IndentationError) as error:
        raise ValueError(f"{place}: {error}") from error


def _flags(ids: str | tuple[str, ...]) -> set[str]:
    """Sentences with names to fill in: whoever translates them must keep the names."""
    one = ids if isinstance(ids, str) else ids[0]
    return {"python-format"} if Message(one).python_format else set()


def catalog_of(folder: Path, language: str) -> Catalog:
    with (folder / "django.po").open("rb") as file:
        return read_po(file, locale=language)


def languages() -> Iterator[tuple[str, Path]]:
    """Each language that is translated to, and the folder of its catalog."""
    for folder in sorted(LOCALES.glob("*/LC_MESSAGES")):
        yield folder.parent.name, folder


def compiled(catalog: Catalog) -> bytes:
    """The catalog as Django reads it, without what is fuzzy."""
    out = BytesIO()
    write_mo(out, catalog)
    return out.getvalue()


def update(folder: Path, language: str, template: Catalog) -> Catalog:
    """Merge what is extracted into a stored catalog, and compile it."""
    catalog = catalog_of(folder, language)
    catalog.update(template, update_creation_date=False)
    catalog.obsolete.clear()
    catalog.msgid_bugs_address = catalog.last_translator = ""
    catalog.language_team = catalog.locale.get_display_name("en")
    with (folder / "django.po").open("wb") as file:
        write_po(file, catalog, width=100, omit_header=False, sort_by_file=True, include_lineno=False)
    (folder / "django.mo").write_bytes(compiled(catalog))
    return catalog


def main() -> int:
    """Update every language; fails where something is left to translate."""
    settings.configure(USE_I18N=True)
    django.setup()
    template, left = extracted(), 0
    for language, folder in languages():
        catalog = update(folder, language, template)
        missing = [message for message in catalog if message.id and (message.fuzzy or not is_whole(message))]
        print(f"{language}: {len(catalog)} messages, {len(missing)} to translate")
        for message in missing[:20]:
            print(f"  {message.id!r}")
        left += len(missing)
    return 1 if left else 0


def is_whole(message: Message) -> bool:
    """Whether it has a translation, in each of its plural forms."""
    return all(message.string) if isinstance(message.string, (list, tuple)) else bool(message.string)


if __name__ == "__main__":
    sys.exit(main())
