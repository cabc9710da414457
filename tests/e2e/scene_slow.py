"""What the stories on a slow line find: one study of each kind of label work for one person.

Gives the ids of the studies by kind.
"""

from django.utils import timezone

from tests import makers
from tests.annotation.points import make_points_question, make_points_study
from tests.annotation.test_validation import make as make_validation
from tests.annotation.test_validation import make_judged
from tests.e2e.scene import person


def prepare() -> dict[str, str]:
    """Make sam and the three studies."""
    now = timezone.now()
    sam = person("sam", time_zone="Asia/Tokyo")
    haystack = makers.make_haystack(
        key="slow", title="Slow", golds=(((1, 2, 3), (2, 3, 4)), ((1, 4), (5, 6))), now=now
    )
    studies = {
        "linking": makers.make_linking_study(haystack=haystack, name="Slow links", annotators=[sam], now=now),
        "verification": make_points_study(
            annotators=[sam],
            name="Slow points",
            questions=[make_points_question(key=f"slow{n}", now=now) for n in (1, 2, 3)],
            now=now,
        ),
        "validation": make_validation(
            [sam], make_judged(n=2, systems=("slow",), name="slow"), n=8, people_per_item=1
        ),
    }
    return {kind: str(study.uid) for kind, study in studies.items()}
