"""What a study with labels made elsewhere says of itself: they are imported and compared, nobody works in it."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from annotation.external.exports import files_of
from annotation.figures.page import headline, small_plot
from annotation.kinds import StudyKind, register, results_tab
from annotation.models import Study

KIND = register(
    StudyKind(
        value=Study.Kind.EXTERNAL,
        label=gettext_lazy("labels made elsewhere"),
        study_page="annotation:study-agreement",
        headline=headline,
        tabs=(results_tab("agreement", gettext_lazy("Agreement"), "annotation:study-agreement"),),
        files=files_of,
        latest=small_plot,
    )
)
