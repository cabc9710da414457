"""What the stories without a connection find: one study of each kind of label work, with twelve items.

Gives the ids of the studies by kind.
"""

from typing import Any

from django.utils import timezone

from tests import makers
from tests.annotation.points import TEXT, make_points_question, make_points_study
from tests.annotation.rated import make_rating_study
from tests.annotation.test_validation import make as make_validation
from tests.annotation.test_validation import make_judged
from tests.e2e.scene import known, person

N_ITEMS = 12
PEOPLE = ("orla", "paul", "quinn", "rosa", "theo", "uma", "veit", "xenia", "zora")
PARAGRAPHS = [f"Paragraph {n} tells of the weather in the harbour, and of nothing else." for n in range(90)]
GOLDS = (((1, 2, 3), (2, 3, 4), (3, 5)), ((1, 4), (5, 6), (2, 6)))
"""As many insights whichever summary comes first."""
QUOTES = ("Boats leave at six in the morning", "The new pier opens", "Tickets cost four euros")


def prepare() -> dict[str, str]:
    """Make the people and the four studies, in which everybody gets every item."""
    now = timezone.now()
    people = [person(name) for name in PEOPLE]
    half = len(PARAGRAPHS) // 2
    around = ["\n\n".join(PARAGRAPHS[:half]), "\n\n".join(PARAGRAPHS[half:])]
    texts = [f"\n\n{words}\n\n".join(around) for words in (TEXT, "The new pier opens in the spring of 2031.")]
    questions = [
        make_points_question(key=f"ahead{n}", texts=texts, quotes=QUOTES, now=now) for n in range(N_ITEMS // 3)
    ]

    def summaries(key: str) -> list[Any]:
        haystack = makers.make_haystack(key=key, title=key.title(), golds=GOLDS, now=now)
        return [
            makers.make_summary(subtopic=subtopic, system=f"model-{n}", now=now)
            for subtopic in haystack.subtopics.order_by("number")
            for n in range(N_ITEMS // 2)
        ]

    studies = {
        "linking": makers.make_linking_study(
            summaries=summaries("ahead-links"),
            name="Links ahead",
            annotators=people,
            asks_unlinked=True,
            people_per_item=len(people),
            now=now,
        ),
        "verification": make_points_study(
            annotators=people, name="Points ahead", questions=questions, researcher=known("ada"), now=now
        ),
        "validation": make_validation(
            people,
            make_judged(n=3, systems=("ahead",), name="ahead"),
            n=N_ITEMS,
            people_per_item=len(people),
            asks_why_not=True,
        ),
        "rating": make_rating_study(
            annotators=people,
            summaries=summaries("ahead-ratings"),
            name="Ratings ahead",
            people_per_item=len(people),
        ),
    }
    return {kind: str(study.uid) for kind, study in studies.items()}
