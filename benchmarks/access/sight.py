"""Sight of research groups: one rule, which every read of a page goes through.

`requires` (`benchmarks/web/permissions.py`) says whose page it is for the rest of the request, and the querysets
of models that are `SEEN_BY` something leave out what belongs to other groups. A view, form, search or file that
comes later is inside the fence without a word. Workers and commands see the whole site, but for results, which a
worker computes in the sight of who asked. What `Model._base_manager` reads is never narrowed: the row that a
foreign key of a visible row points at, deletions, backups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from django.apps import apps
from django.core.signals import request_finished, request_started
from django.db import models
from django.db.models import Exists, OuterRef, Q

Row = TypeVar("Row", bound=models.Model)
ADMIN = "benchmarks.delete_haystack"
RESEARCHER = "benchmarks.view_haystack"


@dataclass(frozen=True, slots=True)
class Sight:
    """The research groups, by primary key, whose things somebody sees beside those of the whole site."""

    groups: frozenset[int]

    def as_list(self) -> list[int]:
        """The groups as JSON holds them, in a fixed order."""
        return sorted(self.groups)


WHOLE_SITE: Sight | None = None
_sight: ContextVar[Sight | None] = ContextVar("sight", default=WHOLE_SITE)
_reader: ContextVar[Any] = ContextVar("reader", default=None)
"""Whose request it is, until something that is fenced is read; saves of drafts read nothing of the kind."""
_no_groups: ContextVar[bool] = ContextVar("no_groups", default=False)
"""Whether the request has found out that the site has no groups."""


def current() -> Sight | None:
    """The sight in force; None is the whole site."""
    if (user := _reader.get()) is not None:
        _reader.set(None)
        _sight.set(of(user))
        _no_groups.set(_sight.get() is WHOLE_SITE and hasattr(user, "_sight"))
    return _sight.get()


def of(user: Any) -> Sight | None:
    """Find somebody's sight. One query for a researcher, kept with the user; None, the whole site, for admins.

    It is the whole site as well where there are no groups, and for who is no researcher: annotators see the tasks
    that they were given, wherever the texts belong.
    """
    if user.has_perm(ADMIN) or not user.has_perm(RESEARCHER):
        return WHOLE_SITE
    if not hasattr(user, "_sight"):
        groups = apps.get_model("benchmarks", "ResearchGroup")
        member = groups.members.through.objects.filter(researchgroup=OuterRef("pk"), user=user.pk)
        rows = groups._base_manager.annotate(is_own=Exists(member)).values_list("pk", "is_own")
        is_member = dict(rows)
        user._sight = (
            Sight(frozenset(pk for pk, is_own in is_member.items() if is_own)) if is_member else WHOLE_SITE
        )
    seen: Sight | None = user._sight
    return seen


def begin(user: Any) -> None:
    """See as this user does until the request has ended, its streamed body included."""
    _reader.set(user)


def lift() -> None:
    """See the whole site until the request has ended, as where somebody reads only what is held of them."""
    _reader.set(None)
    _sight.set(WHOLE_SITE)


def has_no_groups() -> bool:
    """Whether the request has found out that the site has no groups, so that forms need not ask."""
    current()
    return _no_groups.get()


def within(group_id: int | None) -> None:
    """See for the rest of the request only what this group sees, or the whole site's where it is None.

    So the pages of a study are the same for all who open them. Nothing changes where the site has no groups.
    """
    if has_no_groups():
        return
    if current() is WHOLE_SITE and not apps.get_model("benchmarks", "ResearchGroup")._base_manager.exists():
        return
    _sight.set(Sight(frozenset([] if group_id is None else [group_id])))


def _end(**_signal: Any) -> None:
    _reader.set(None)
    _sight.set(WHOLE_SITE)
    _no_groups.set(False)


request_started.connect(_end, dispatch_uid="benchmarks.access.sight.started")
request_finished.connect(_end, dispatch_uid="benchmarks.access.sight.finished")


@contextmanager
def seeing(sight: Sight | None) -> Iterator[None]:
    """See what this sight does inside the block."""
    reader, token = _reader.set(None), _sight.set(sight)
    try:
        yield
    finally:
        _sight.reset(token)
        _reader.reset(reader)


def whole_site() -> Any:
    """A block that sees the whole site, as where a name has to be unique on it."""
    return seeing(WHOLE_SITE)


class FencedQuerySet(models.QuerySet[Row]):
    """Rows that are in sight where the queryset is made; its model is `SEEN_BY` one of the following.

    - `"group"`: its own research group, or the whole site where that is null.
    - a foreign key: it is in sight with the row that it points at, if it points at one; of several, with all.
    - a many-to-many field: every row that it names is in sight.
    - a function of a `Sight` that gives a `Q`.
    """

    def __init__(self, model: Any = None, query: Any = None, **kwargs: Any) -> None:
        super().__init__(model, query, **kwargs)
        sight = current()
        if query is None and model is not None and sight is not None:  # a manager made it, it is no copy
            self.query.add_q(in_sight(model, sight))


def in_sight(model: type[models.Model], sight: Sight) -> Q:
    rule: str | tuple[str, ...] | Callable[[Sight], Q] = getattr(model, "SEEN_BY")  # noqa: B009 - not all have it
    if not isinstance(rule, str | tuple):
        return rule(sight)
    condition = Q()
    for name in (rule,) if isinstance(rule, str) else rule:
        condition &= _by_field(model, model._meta.get_field(name), sight)
    return condition


def _by_field(model: type[models.Model], field: Any, sight: Sight) -> Q:
    others = field.related_model
    is_group = others._meta.label == "benchmarks.ResearchGroup"
    seen = sight.as_list() if is_group else others._base_manager.filter(in_sight(others, sight)).values("pk")
    if field.many_to_many:
        links = field.remote_field.through._base_manager
        unseen = links.exclude(**{f"{field.m2m_reverse_field_name()}__in": seen})
        return ~Q(pk__in=unseen.values(field.m2m_field_name()))
    points_at = Q(**{f"{field.name}__in": seen})
    return points_at | Q(**{f"{field.name}__isnull": True}) if field.null else points_at
