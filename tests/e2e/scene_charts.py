"""What the story of charts finds: a study whose labels two people made, and three judges.

Run as a program against the site's own database; prints the study's id.
"""

from __future__ import annotations

import json
from typing import Any

import django


def prepare() -> dict[str, str]:
    """Make the study, of which ada is the researcher."""
    from django.contrib.auth import get_user_model

    from tests.annotation.labelled import make_labelled_study, make_summaries

    users: Any = get_user_model()
    study = make_labelled_study(
        summaries=make_summaries(),
        judges=("ash", "<b>elm</b>", "oak"),
        researcher=users.objects.get(username="ada"),
    )
    return {"study": str(study.uid)}


if __name__ == "__main__":
    django.setup()
    print(json.dumps(prepare()))
