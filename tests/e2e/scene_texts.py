"""What the story of odd texts finds: a session and a key point to verify, for one person.

Their texts hold all cases of `tests/texts.json`; the place of the key point's quote is counted in UTF-16. Gives
the ids of the task and the study.
"""

import io
import json
import tempfile
from pathlib import Path

from django.core.management import call_command
from django.utils import timezone

from benchmarks.models import Question
from tests import makers
from tests.annotation.points import make_points_study
from tests.e2e.scene import known, person

CASES = Path(__file__).resolve().parents[1] / "texts.json"
QUOTE = "The ferry leaves at six."


def prepare() -> dict[str, str]:
    """Make the person, the session's task and the study of points."""
    now = timezone.now()
    ada, wren = known("ada"), person("wren")
    odd = "\n\n".join(case[1] for case in json.loads(CASES.read_text(encoding="utf-8"))["found"])

    haystack = makers.make_haystack(key="odd", title="Odd signs", n_documents=6, now=now)
    first = haystack.documents.get(number=1)
    first.text = odd
    first.save()
    writing = makers.make_writing_study(
        haystack=haystack, name="Study odd", researcher=ada, annotators=[wren], preset="assisted", now=now
    )
    task = makers.make_assignment(
        annotator=wren, study=writing, document_numbers=[1, 2], state="assigned", now=now
    )

    text = f"😀😀😀 {QUOTE} {QUOTE}\n\n{odd}"
    start = 4 + 3 + len(QUOTE) + 1  # of the second, where each emoji counts twice
    span = {"document": 0, "text": QUOTE, "start": start, "end": start + len(QUOTE)}
    line = {
        "key": "odd",
        "question": "When?",
        "documents": [text],
        "key_points": [{"text": "At six.", "spans": [span]}],
    }
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".jsonl") as file:
        file.write(json.dumps(line))
        file.flush()
        call_command("import_dataset", "long2rag", file.name, dataset="odd", stdout=io.StringIO())
    study = make_points_study(
        annotators=[wren],
        questions=Question.objects.filter(dataset="odd"),
        researcher=ada,
        name="Points odd",
        now=now,
    )
    return {"task": str(task.uid), "study": str(study.uid)}
