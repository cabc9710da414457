"""The Celery app. Without CELERY_BROKER_URL messages are files in the data folder (see settings)."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import django
from celery import Celery
from celery.signals import worker_init
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")

TRANSPORT_ALIASES["filesystem"] = "summhay_site.operations.folder_broker:Transport"

app = Celery("summhay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def _know_all_figures(**_: Any) -> None:
    """Views register the figures that they show, and a worker computes them."""
    django.setup()
    import_module(settings.ROOT_URLCONF)
