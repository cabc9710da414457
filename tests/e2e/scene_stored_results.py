"""What the story of stored results finds, labels of two people, and what happens in it: one is changed."""

from annotation.models import CoverageLabel, Study
from benchmarks.tasks import compute_results
from tests.annotation.labelled import make_labelled_study, make_summaries
from tests.e2e.scene import known


def prepare() -> dict[str, str]:
    """Two people who always agree on six summaries."""
    study = make_labelled_study(
        summaries=make_summaries(n=6, dataset="stored"),
        people=("nora", "nils"),
        judges=(),
        researcher=known("ada"),
        name="Stored",
        noise=0.0,
    )
    return {"study": str(study.uid)}


def change() -> dict[str, int]:
    """One of them calls everything partly covered in what follows the labels of before."""

    study = Study.objects.get(name="Stored")
    labels = CoverageLabel.objects.filter(study=study, annotator__label="nora", is_current=True).order_by("pk")[:5]
    for label in labels:
        CoverageLabel.objects.filter(pk=label.pk).update(is_current=False)
        label.pk, label.uid = None, None
        label.coverage = "none" if label.coverage != "none" else "full"
        label.lines = [] if label.coverage == "none" else [2]
        label.is_linked = bool(label.lines)
        label.save(force_insert=True)
    return {"n": len(labels)}


def sweep() -> dict[str, int]:
    """What beat does every minute."""

    compute_results()
    return {}
