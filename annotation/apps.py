"""The app of people and their work."""

from __future__ import annotations

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Studies, assignments, sessions and labels."""

    name = "annotation"

    def ready(self) -> None:
        """Tell the lower app who keeps the list of people that have seen reference insights."""
        from annotation.exposures import record_exposures
        from benchmarks.web import exposure

        exposure.register(record_exposures)
