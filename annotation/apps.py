"""The app of people and their work."""

from __future__ import annotations

from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    """Studies, assignments, sessions and labels."""

    name = "annotation"

    def ready(self) -> None:
        """Load the kinds of study; tell the lower app what records exposure, imports labels and finds studies."""
        from annotation import kinds
        from annotation.approvals.recording import ApprovalSource
        from annotation.importing import archives
        from annotation.results.run_scopes import RunStudies
        from annotation.studies.scope import record_exposures
        from benchmarks.engine import scopes
        from benchmarks.io import formats
        from benchmarks.results import judged
        from benchmarks.web import permissions

        kinds.load()
        scopes.register(RunStudies())
        permissions.register(record_exposures)
        judged.register(ApprovalSource())
        for kind in kinds.kinds():
            for entry in kind.formats:
                formats.register(entry)
        formats.register(archives.ARCHIVE)
