"""The three roles, as Django groups with model permissions. `migrate` keeps them equal to this table."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, Permission

ANNOTATOR = "annotator"
RESEARCHER = "researcher"
ADMIN = "admin"
BY_RANK = (ADMIN, RESEARCHER, ANNOTATOR)

_RESEARCHER = (
    "benchmarks.view_haystack",
    "benchmarks.add_haystack",
    "benchmarks.change_haystack",
    "benchmarks.view_summary",
    "benchmarks.view_question",
    "benchmarks.view_judge",
    "benchmarks.add_judge",
    "benchmarks.change_judge",
    "benchmarks.add_judgerun",
    "benchmarks.add_responsepointcheck",
    "annotation.view_study",
    "annotation.add_study",
    "annotation.change_study",
    "annotation.view_session",
    "annotation.view_annotator",
    "annotation.add_annotator",
    "annotation.add_exclusion",
    "annotation.add_latedecision",
)
PERMISSIONS: dict[str, tuple[str, ...]] = {
    ANNOTATOR: ("annotation.do_work",),
    RESEARCHER: _RESEARCHER,
    ADMIN: (
        *_RESEARCHER,
        "benchmarks.delete_haystack",
        "benchmarks.view_auditevent",
        "annotation.delete_study",
        "annotation.add_clockcredit",
        "annotation.void_session",
        "annotation.change_annotator",
        "summhay_site.view_user",
        "summhay_site.add_user",
        "summhay_site.change_user",
        "summhay_site.delete_user",
        "summhay_site.view_workerheartbeat",
    ),
}


def role_of(user: Any) -> str:
    """The highest role of a user; a superuser is an admin; empty where there is none."""
    if user.is_superuser:
        return ADMIN
    names = {group.name for group in user.groups.all()}
    return next((role for role in BY_RANK if role in names), "")


def sync_roles() -> None:
    """Make the groups and give each exactly the permissions of the table."""
    wanted = {name for names in PERMISSIONS.values() for name in names}
    known = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.select_related("content_type").filter(
            content_type__app_label__in={name.split(".")[0] for name in wanted}
        )
    }
    for role, names in PERMISSIONS.items():
        group, _ = Group.objects.get_or_create(name=role)
        group.permissions.set([known[name] for name in names if name in known])
