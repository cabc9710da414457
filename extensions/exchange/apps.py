"""The app; the core knows nothing of it, and pages let it in at the place `downloads`."""

from __future__ import annotations

from django.apps import AppConfig


class ExchangeConfig(AppConfig):
    name = "extensions.exchange"
