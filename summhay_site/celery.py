"""The Celery app. Without CELERY_BROKER_URL messages are files in the data folder (see settings)."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "summhay_site.settings")

app = Celery("summhay")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
