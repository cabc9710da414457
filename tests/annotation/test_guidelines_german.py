"""Guidelines in the language of who reads them, where they are ours."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from django.utils.translation import override

from annotation.studies.guidelines import default_guidelines, guideline_html, publish_guideline, translation_of
from tests.makers import make_linking_study

pytestmark = pytest.mark.django_db


def test_a_study_with_our_guidelines_shows_them_in_german_with_the_english_text_below(
    ben: Any, login: Any, now: Any
) -> None:
    study = make_linking_study(annotators=[ben])
    publish_guideline(study=study, body=default_guidelines("linking"), by=None, now=now)
    client = login(ben)
    shown = client.get(reverse("annotation:study-guidelines", args=[study.uid]), headers={"accept-language": "de"})
    html = shown.content.decode()
    assert "Gar nicht" in html
    assert "Dies ist eine Übersetzung" in html
    assert "None, partial, full" in html


def test_guidelines_that_somebody_wrote_stay_as_they_are(ben: Any, now: Any) -> None:
    study = make_linking_study(annotators=[ben])
    own = publish_guideline(study=study, body=default_guidelines("linking") + "\n\nMore.", by=None, now=now)
    sent = publish_guideline(
        study=study, body=default_guidelines("linking").replace("\n", "\r\n"), by=None, now=now
    )
    with override("de"):
        assert translation_of(own) == ""
        assert "None, partial, full" in guideline_html(own)
        assert "Gar nicht" in translation_of(sent)
    with override("en"):
        assert translation_of(sent) == ""
