"""The notebook of the documentation, cell by cell, against a served site; then its token is revoked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import altair
import pytest
from django.utils import timezone

from annotation.models import Study
from summhay_site.api.access import make_token, revoke_token
from tests.annotation.labelled import make_labelled_study, make_summaries

NOTEBOOK = Path(__file__).resolve().parents[2] / "docs" / "api.ipynb"


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_every_cell_runs_and_a_revoked_token_ends_it(
    live_server: Any, ada: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = ("anna", "bert", "cara")
    study: Study = make_labelled_study(summaries=make_summaries(), people=people, name="Ferry", researcher=ada)
    token, plain = make_token(user=ada, name="notebook", ends_at=None, now=timezone.now())
    for name, value in (("SITE", live_server.url), ("TOKEN", plain), ("STUDY", study.name)):
        monkeypatch.setenv(f"SUMMHAY_{name}", value)
    space: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), space)  # noqa: S102  it is our own
    assert len(space["kappas"]) == len(set(space["kappas"].values())) == 3
    assert len(space["labels"]) == 3 * 36
    assert {"labels", "annotators", "figures"} <= set(space["tables"])
    assert isinstance(space["chart"], altair.LayerChart | altair.Chart | altair.HConcatChart | altair.VConcatChart)
    assert space["figures"]["data_version"]
    revoke_token(token=token, by=ada, now=timezone.now())
    with pytest.raises(Exception, match="401"):
        space["study"].labels()
