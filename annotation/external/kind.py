"""Study kind: labels made elsewhere. They are imported and compared, nobody works in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy

from annotation.approvals import pages as approvals
from annotation.coverage.results import RESULTS
from annotation.external.files import PLAIN_LABELS, TOOL_LABELS, PlainLabelsPlan, files_of, told_of
from annotation.kinds import SUMMARIES, StudyKind, kinds, register, results_tab
from annotation.models import Study


class External(StudyKind):
    """Labels made elsewhere."""

    value = Study.Kind.EXTERNAL
    label = "labels made elsewhere"
    is_of_coverage = True
    judged = SUMMARIES
    study_page = "annotation:study-figures"
    tabs = (results_tab("agreement", gettext_lazy("Agreement"), "annotation:study-figures"), approvals.TAB)
    files = staticmethod(files_of)
    formats = (PLAIN_LABELS, TOOL_LABELS)
    archive_plan = PlainLabelsPlan
    told_of = staticmethod(told_of)

    def deciding_of(self, study: Study) -> Any:
        """Labels of coverage are decided on as those that were given here."""
        here = (kind for kind in kinds() if kind.is_of_coverage and kind is not self)
        return next((kind.deciding_of(study) for kind in here), None)

    def results_of(self, study: Study, part: str = "") -> Any:
        """Labels that answer what a kind of study asks have the results of those given here."""
        if part:
            return approvals.RESULTS if part == approvals.TAB.here else None
        return next((kind.results_of(study) for kind in kinds() if kind.has_imported(study)), RESULTS)

    def agreement_of(self, study: Study, options: Mapping[str, Any]) -> Any:
        here = (kind for kind in kinds() if kind.has_imported(study))
        return next((kind.agreement_of(study, options) for kind in here), None)


KIND = register(External())
