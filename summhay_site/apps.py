"""The app of accounts and shared pages."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate


class SiteConfig(AppConfig):
    """Accounts, roles and the shared pages."""

    name = "summhay_site"
    verbose_name = "Site"

    def ready(self) -> None:
        """Load the system checks, report errors if asked to, keep the role groups equal to their definition."""
        from summhay_site.operations import doctor  # noqa: F401

        if settings.SENTRY_DSN:
            from summhay_site.serving import logs

            logs.start()

        # Permissions exist only after migrate, so the groups that hold them are made there too.
        post_migrate.connect(_sync_roles, sender=self)


def _sync_roles(**_: Any) -> None:
    from summhay_site.accounts.models import sync_roles

    sync_roles()
