"""The site: settings, accounts, roles, middleware and the pages every role shares."""

from __future__ import annotations

from summhay_site.celery import app as celery_app

__all__ = ["celery_app"]
