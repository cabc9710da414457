"""Make a haystack from a pack in the browser: choose a seed, look at what it draws, make it; then import it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from benchmarks.io import jobs
from benchmarks.io.pages import ADD, start
from benchmarks.web.groups import GroupedForm, own_group
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from extensions.synthesis.from_packs import receive, shelf
from extensions.synthesis.packs.filling import NoWorld
from extensions.synthesis.packs.reading import shipped
from extensions.synthesis.packs.world import HIGHEST_SEED, Preview, preview


class PackForm(GroupedForm):
    """Which pack, and which of its worlds."""

    pack = forms.ChoiceField(label="Pack")
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=HIGHEST_SEED,
        initial=1,
        help_text="The same seed always gives the same haystack.",
    )
    unlike = forms.IntegerField(
        label="Unlike seed",
        min_value=0,
        max_value=HIGHEST_SEED,
        required=False,
        help_text="Optional: every value differs from those of this seed, for a parallel form.",
    )
    dataset = forms.SlugField(
        label="Dataset",
        max_length=80,
        required=False,
        help_text="Optional: one name for what belongs together; letters, digits, - and _.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["pack"].choices = [(name, shelf(name).title) for name in shipped()]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Two seeds that are the same leave nothing to differ."""
        cleaned = super().clean() or {}
        if "seed" in cleaned and cleaned.get("unlike") == cleaned["seed"]:
            self.add_error("unlike", "This is the seed itself; give another one, or none.")
        return cleaned


@require_http_methods(["GET", "HEAD", "POST"])
@requires(ADD)
def pack_new(request: HtmxHttpRequest) -> HttpResponse:
    """Choose a pack and seeds. The fragment is what these draw; making one leads to the page of its import."""
    data = request.POST if request.method == "POST" else request.GET
    form = PackForm(data or {"pack": shipped()[0], "seed": 1, "group": own_group()})
    shown: Preview | None = None
    if form.is_valid():
        chosen = form.cleaned_data
        world = {"pack": shelf(chosen["pack"]), "seed": chosen["seed"], "unlike": chosen["unlike"]}
        try:
            if request.method == "POST":
                job = receive(
                    **world,
                    dataset=chosen["dataset"],
                    group=form.chosen_group_id,
                    actor=request.user,
                    now=timezone.now(),
                )
                start(job)
                return redirect("benchmarks:import-job", job.uid)
            shown = preview(**world)
        except (NoWorld, jobs.UploadRefused) as refused:
            form.add_error(None, str(refused))
    context = {"form": form, "preview": shown, "packs": [shelf(name) for name in shipped()]}
    status = 422 if request.method == "POST" else 200
    return page(request, "synthesis/pack_new.html", context, part="preview", status=status)
