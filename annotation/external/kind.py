"""What a study with labels made elsewhere says of itself: they are imported and compared, nobody works in it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.utils.translation import gettext_lazy

from annotation.external.exports import files_of
from annotation.figures.page import headline, headline_facts, small_chart
from annotation.kinds import Headline, StudyFile, StudyKind, register, results_tab
from annotation.models import Study
from benchmarks.web.charts import Chart


class External(StudyKind):
    """Labels made elsewhere."""

    value = Study.Kind.EXTERNAL
    label = gettext_lazy("labels made elsewhere")
    study_page = "annotation:study-agreement"
    tabs = (results_tab("agreement", gettext_lazy("Agreement"), "annotation:study-agreement"),)

    def files(self, study: Study, now: datetime) -> Iterable[StudyFile]:
        return files_of(study, now)

    def latest(self, study: Study) -> Chart | None:
        return small_chart(study)

    def facts(self, study: Study) -> object:
        return headline_facts(study)

    def headline(self, study: Study) -> Headline:
        return headline(study)


KIND = register(External())
