"""A study that people of a panel come to."""

import pytest

from annotation.models import Study
from tests.makers import make_linking_study


@pytest.fixture
def study(ada) -> Study:
    return make_linking_study(researcher=ada)
