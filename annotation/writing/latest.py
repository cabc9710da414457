"""The results of a writing study in a card, for the home of researchers."""

from __future__ import annotations

from dataclasses import replace

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Study
from annotation.writing import curves
from annotation.writing.curves import has_interval, in_words, mean_line, study_report
from annotation.writing.results import MEASURES
from benchmarks.engine import judging
from benchmarks.web.plots import Plot


def small_plot(study: Study) -> Plot | None:
    """The mean joint score over active time, in a card; None before a session is scored."""
    report = study_report(study=study, judge=judging.default_judge(now=timezone.now()))
    curve = report.curves[MEASURES.index("joint")]
    if not any(point.mean.is_defined for point in curve.points):
        return None
    line = mean_line(curve, panel=0)
    return Plot(
        title=_("Joint score over active time"),
        x_label=_("active minutes"),
        y_label=_("joint score (%)"),
        series=[replace(line, kind="band"), line] if has_interval(line) else [line],
        x_range=(0, report.limit_ms / 60_000),
        caption=_("n = %(n)d sessions of %(people)d writers")
        % {"n": report.n_counted, "people": report.n_annotators},
        alt=in_words([curve]),
        is_small=True,
    )


def facts(study: Study) -> object:
    """All that the small plot depends on."""
    judge = judging.default_judge(now=timezone.now())
    return curves.facts(curves.ProgressLook(study.pk, judge.pk))
