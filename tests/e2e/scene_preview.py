"""What the story of previews finds besides: a validation study."""

from tests.annotation.test_validation import make, make_judged
from tests.e2e.scene import known, person


def prepare() -> dict[str, str]:
    """Make the study and its one annotator."""
    study = make([person("paula")], make_judged(n=2, name="previewed"), n=4, by=known("ada"))
    return {"study": str(study.uid)}
