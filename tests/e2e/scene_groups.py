"""What the story of research groups finds: an admin, and two researchers of one study. Gives the study's id."""

from django.utils import timezone

from tests import makers
from tests.e2e.scene import person


def prepare() -> dict[str, str]:
    """Make eve, the admin; rita and robin, who both run the study; and texts that the whole site sees."""
    now = timezone.now()
    person("eve", "admin")
    rita, robin = (person(name, "researcher") for name in ("rita", "robin"))
    haystack = makers.make_haystack(key="groups", title="Ferries of a group", now=now)
    study = makers.make_writing_study(haystack=haystack, name="Study of terns", researcher=rita, now=now)
    study.researchers.add(robin)
    return {"study": str(study.uid)}
