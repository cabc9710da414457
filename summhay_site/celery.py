"""The Celery app. Without CELERY_BROKER_URL messages are files in the data folder (see settings)."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import django
from celery import Celery
from celery.signals import worker_init
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

from benchmarks.engine.data_folder import data_folder

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")

TRANSPORT_ALIASES["filesystem"] = "summhay_site.operations.folder_broker:Transport"

app = Celery("summhay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_configure.connect
def _make_broker_folders(**_: Any) -> None:
    """Make the folders of messages when Celery is first used; another broker needs none."""
    for folder in settings.BROKER_FOLDERS:
        data_folder(*Path(folder).relative_to(settings.DATA_DIR).parts)


@worker_init.connect
def _know_all_figures(**_: Any) -> None:
    """Views register the figures that they show, and a worker computes them."""
    django.setup()
    import_module(settings.ROOT_URLCONF)
