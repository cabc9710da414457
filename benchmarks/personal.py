"""How models say what they hold of a person: for pages and documents, a person's own export, and erasing.

`Held` describes fields of a model, `Acts` the fields that name the account which did something. Each app declares
its own beside its models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Words = str | Promise


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody as an account and as an annotator; researchers are mostly only the first."""

    user: Any
    annotator: Any = None


class Worded(Enum):
    """An enumeration whose values are words for readers."""

    @property
    def words(self) -> Words:
        """In the language of the reader."""
        value: Words = self.value
        return value


class Subject(Worded):
    """Subjects of declarations; pages and documents go through them in this order."""

    ACCOUNT = _("The account")
    TAKING_PART = _("Taking part")
    WRITING = _("Writing")
    LABELS = _("Label work")
    PANEL = _("Coming from a panel")
    RECORDS = _("Records of the site")


class Seen(Worded):
    """Who sees it on pages or in files."""

    SELF = _("nobody but the person")
    ADMINS = _("the person and admins")
    RESEARCHERS = _("the person, the researchers of the study, and admins")
    RESEARCHERS_ONLY = _("the researchers of the study, and admins")
    PUBLISHED = _(
        "the person, the researchers of the study, and admins; without the name, whoever reads what is published"
    )
    NOBODY = _("nobody: the program needs it")


class Erased(Worded):
    """Fate of rows when the person is erased; `Held.emptied` names fields that are emptied in any case."""

    ALWAYS = _("is deleted")
    ON_REQUEST = _("stays without the name, or is deleted, as the person chooses")
    NAMELESS = _("stays without the name")
    BY_ITSELF = _("is gone by itself before long")


class Reason(Worded):
    """Why a field is not in a person's own export."""

    OPENS = _("Secrets that open the account, such as the digest of a password.")
    SPOILS = _("What would give away hidden checks or expected answers and so spoil later work.")
    JUDGED = _("What judges and other people said of texts: whoever writes or labels is not shown scores.")
    OTHERS = _("Who else was involved: names of researchers, of admins and of other people.")
    TECHNICAL = _("Keys of the database and counters that keep saves in order; they say nothing of a person.")
    TWICE = _("What is in another file already.")


@dataclass(frozen=True, slots=True)
class Held:
    """Fields of a model that hold something of a person: what, why, who sees it, how long.

    The person's rows are those whose `annotator` or `user` (lookups; "" is the row itself) is the person, or what
    `find` gives; without any of them nobody can tell whose they are. `fields` are the lookups that a person's own
    export gives; `withheld` are the others, by reason. `emptied` says what stands in a field once the person is
    erased, though the row stays.
    """

    model: type[Model]
    name: str
    subject: Subject
    seen_by: Seen
    erased: Erased
    what: Words
    why: Words
    fields: tuple[str, ...] = ()
    withheld: Mapping[Reason, tuple[str, ...]] = field(default_factory=dict)
    emptied: Mapping[str, Any] = field(default_factory=dict)
    annotator: str | None = None
    user: str | None = None
    find: Callable[[Person], QuerySet[Any]] | None = None
    spread: str = ""
    """A field of JSON whose own keys stand in the export."""
    setting: str = ""
    """The setting that says after how many days it goes before anybody is erased."""

    @classmethod
    def of(cls, *about: Any, fields: str = "", **more: Any) -> Held:
        """Makes one from names in one string: `fields`, and what is withheld under the name of the reason."""
        reasons = [(reason, reason.name.lower()) for reason in Reason]
        withheld = {reason: tuple(more.pop(name).split()) for reason, name in reasons if name in more}
        return cls(*about, **{"fields": tuple(fields.split()), "withheld": withheld, **more})

    @property
    def covered(self) -> frozenset[str]:
        """Names of the fields of the model that this describes."""
        names = (*self.fields, *(name for names in self.withheld.values() for name in names))
        path = self.annotator or self.user or ""
        return frozenset(name.split("__")[0] for name in (*names, path) if name)

    def rows_of(self, person: Person) -> QuerySet[Any] | None:
        """The rows that hold something of this person; None where nobody can tell whose they are."""
        rows: QuerySet[Any] = self.model._default_manager.all()
        if self.find is not None:
            return self.find(person)
        if self.annotator is None and self.user is None:
            return None
        subject = person.annotator if self.annotator is not None else person.user
        lookup = self.annotator if self.annotator is not None else self.user
        return rows.none() if subject is None else rows.filter(**{lookup or "pk": subject.pk})


@dataclass(frozen=True, slots=True)
class Acts:
    """Fields that name the account which did something, or an address at work; nobody else can be asked about it.

    They are shown to whoever may open the page of the object, are in no annotator's export, and are empty once the
    account is erased.
    """

    model: type[Model]
    fields: tuple[str, ...]
