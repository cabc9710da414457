"""What several of these tests stand on."""

import pytest
from django.test import Client

from annotation.models import Study
from tests.annotation.leaderboard.board import BOTH, FIRST, Reader, judged, written
from tests.conftest import make_user
from tests.makers import NOW, make_haystack, make_writing_study


@pytest.fixture(scope="module")
def _people(kept: None) -> None:
    """A haystack that three systems and two people summarized, judged offline; the board is stored."""
    ada, ben, cleo = make_user("ada", "researcher"), make_user("ben", "annotator"), make_user("cleo", "annotator")
    study = make_writing_study(haystack=make_haystack(), researcher=ada, annotators=[ben, cleo])
    for person, text, ceiling in ((ben, FIRST, 0.6), (cleo, BOTH, 0.8)):
        written(person, study, text, ceiling=ceiling, now=NOW)
    judged(study, now=NOW)
    client = Client()
    client.force_login(ada, backend="summhay_site.authentication.AccountBackend")
    Reader(client).get()


@pytest.fixture
def people(_people: None, db: None) -> Study:
    """The study of that world, which a module keeps."""
    return Study.objects.get()


@pytest.fixture
def reader(as_ada) -> Reader:
    """The researcher of these studies."""
    return Reader(as_ada)
