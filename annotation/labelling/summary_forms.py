"""The form that chooses summaries for a study, of any kind that has summaries as items. It checks; verbs do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.urls import reverse

from annotation.kinds import SUMMARIES
from annotation.labelling import summaries
from annotation.labelling.kind import LabelWork
from annotation.models import LabelItem, LabelTask, Study
from annotation.studies.amounts import in_figures
from annotation.studies.estimates import (
    NarrowedForm,
    Sizes,
    any_of,
    narrowed_to,
    part_of,
    seed_of_draw,
    size_of_sample,
)
from annotation.studies.forms import TrialSettingsForm
from annotation.studies.kind import NotPossible
from annotation.studies.overview import Remark
from benchmarks.leaderboard.retrieval_words import names_of
from benchmarks.leaderboard.sampling import source_corpora
from benchmarks.models import Haystack, Summary
from benchmarks.web.forms import RowsField, ids_among

WAYS = [
    ("all", "all that match"),
    ("sample", "a random sample of them, stratified by system and subtopic"),
    ("list", "a list of summary ids"),
]
MAX_LIST_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Count:
    """How many summaries a form chooses, of how many that match, and how many of these each system has.

    The matching ones are on `n_subtopics`, with `n_insights` of a summary on average.
    """

    n: int
    n_matching: int
    systems: Sequence[tuple[str, int]]
    n_subtopics: int
    n_insights: float


class SummariesForm(NarrowedForm):
    """Which summaries: of which haystacks and whose, narrowed or not; all of them, a sample or a list.

    Only what the chosen haystacks have can be chosen from.
    """

    NARROWED_BY = ("subtopics", "systems", "retrievers")
    ITEMS = (
        "haystacks", "corpora", "with_systems", "with_people", "way", "n_sample", "seed", "list_text", "list_file",
    )  # fmt: skip

    haystacks = RowsField(
        label="Haystacks",
        queryset=Haystack.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    corpora = any_of("Documents with reference summaries")
    with_systems = forms.BooleanField(label="Summaries of systems", required=False, initial=True)
    with_people = forms.BooleanField(
        label="Summaries that people handed in",
        required=False,
        initial=True,
        help_text="So that people and systems are labelled alike. Nobody gets their own.",
    )
    subtopics = any_of("Subtopics", coerce=int)
    systems = any_of("Systems")
    retrievers = any_of("Retrievers")
    way = forms.ChoiceField(label="Which of them", choices=WAYS, initial="all", widget=forms.RadioSelect)
    n_sample = size_of_sample()
    seed = seed_of_draw("The same seed draws the same sample. Blank: taken from the name of the study.")
    list_text = forms.CharField(
        label="Summary ids",
        required=False,
        max_length=MAX_LIST_BYTES,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text="One per row. Or choose a file:",
    )
    list_file = forms.FileField(
        label="File with summary ids",
        required=False,
        help_text="A text or CSV file with a summary id at the start of each row.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["haystacks"]
        in_use = Haystack.objects.for_work()
        with_some = summaries.candidates(in_use, user=self.user).order_by().values("haystack")
        offered = list(in_use.filter(pk__in=with_some).values_list("pk", flat=True))
        field.queryset = in_use.filter(pk__in=offered).order_by("title")
        if len(offered) == 1 and not self.initial.get("corpora"):
            self.initial.setdefault("haystacks", offered)
        if ticked := self.initial.get("haystacks"):
            self.initial["haystacks"] = [pk for pk in ticked if pk in offered]
        if n_without := in_use.count() - len(offered):
            none = "no summary that can be chosen, so"
            has = in_figures(n_without, f"haystack has {none} it is", f"haystacks have {none} they are")
            field.help_text = f"{has} not listed."
        self.fields["corpora"].choices = [(name, name) for name in source_corpora()]  # type: ignore[attr-defined]
        rows, systems, retrievers = summaries.offered(self._haystacks_so_far(), user=self.user)
        subtopics = [row for row in rows if not row.haystack.is_source]
        is_one = len({subtopic.haystack_id for subtopic in subtopics}) == 1
        words = names_of(filter(None, retrievers))
        choices: dict[str, list[tuple[Any, Any]]] = {
            "subtopics": [
                (row.pk, row.name if is_one else f"{row.haystack.title}: {row.name}") for row in subtopics
            ],
            "systems": [(name, name) for name in systems],
            "retrievers": [(name, words[name] if name else "all documents") for name in retrievers],
        }
        for name, values in choices.items():
            self.fields[name].choices = values  # type: ignore[attr-defined]

    def _haystacks_so_far(self) -> list[Haystack]:
        """Those that are ticked, and sources of what is, whether or not the rest of the form is right."""
        ticked = ids_among(self["haystacks"].value())
        haystacks = list(self.fields["haystacks"].queryset.filter(pk__in=ticked))  # type: ignore[attr-defined]
        for name in self["corpora"].value() or ():
            haystacks += Haystack.objects.current().sources().in_corpus(str(name))
        return haystacks

    def clean(self) -> dict[str, Any]:
        """Read the list, or see that there is something to choose from."""
        data = super().clean() or {}
        self.listed: Sequence[Summary] = ()
        if data.get("way") == "list":
            self._read_list(data)
        elif not (data.get("haystacks") or data.get("corpora")):
            self.add_error("haystacks", "Choose at least one haystack.")
        elif not (data.get("with_systems") or data.get("with_people")):
            self.add_error("with_systems", "Choose summaries of systems, of people, or both.")
        if data.get("way") == "sample" and not data.get("n_sample"):
            self.add_error("n_sample", "How many summaries?")
        return data

    def _read_list(self, data: dict[str, Any]) -> None:
        upload, text = data.get("list_file"), data.get("list_text", "")
        field = "list_text" if upload is None else "list_file"
        if upload is None and not text:
            self.add_error(field, "Paste the ids, or choose a file.")
        elif upload is not None and upload.size > MAX_LIST_BYTES:
            self.add_error(field, "The list is over 2 MB.")
        else:
            try:
                text = text if upload is None else upload.read().decode("utf-8-sig")
                self.listed = summaries.read_list(text, user=self.user)
            except UnicodeDecodeError:
                self.add_error(field, "The file is not UTF-8 text.")
            except summaries.BadList as bad:
                shown = list(bad.problems[:20])
                if len(bad.problems) > len(shown):
                    shown.append(f"… and {len(bad.problems) - len(shown)} more rows.")
                self.add_error(field, forms.ValidationError(shown))

    @property
    def draws_at_random(self) -> bool:
        """Whether the summaries are a sample, which is drawn within each system."""
        return bool(self.cleaned_data["way"] == "sample")

    def chosen(self, *, seed: int) -> list[Summary]:
        """The summaries; `seed` is used where the form has none."""
        data = self.cleaned_data
        if data["way"] == "list":
            return list(self.listed)
        if data["way"] == "all":
            return list(self._matching())
        return summaries.draw(
            self._matching(), data["n_sample"], seed=seed if data["seed"] is None else data["seed"]
        )

    def count(self) -> Count:
        data = self.cleaned_data
        if data["way"] == "list":
            systems, rows = [], summaries.labellable().filter(pk__in=[row.pk for row in self.listed])
        else:
            rows = self._matching()
            systems = summaries.counted(rows)
        about = list(rows.values_list("subtopic", "n_insights"))  # type: ignore[misc]  # an annotation
        n = len(about)
        return Count(
            n=min(n, data["n_sample"]) if data["way"] == "sample" else n,
            n_matching=n,
            systems=systems,
            n_subtopics=len({subtopic for subtopic, _n in about}),
            n_insights=sum(each for _subtopic, each in about) / n if n else 0.0,
        )

    def words(self, count: Count | None) -> str:
        corpora = self["corpora"].value() or ()
        n = len([row for row in self._haystacks_so_far() if not row.is_source])
        of = " and ".join([*([in_figures(n, "haystack", "haystacks")] if n else []), *map(str, corpora)])
        if count is None:
            return f"summaries of {of}" if of else ""
        if self["way"].value() == "list":
            return in_figures(count.n, "summary in a list", "summaries in a list")
        which = "matching " if any(self[name].value() for name in self.NARROWED_BY) else ""
        return f"{part_of(count.n, count.n_matching, f'{which}summary', f'{which}summaries')} of {of}"

    def sizes(self, count: Count) -> Sizes:
        return Sizes(count.n, count.n, min(count.n, count.n_subtopics))

    def _matching(self) -> QuerySet[Summary, Summary]:
        names = ("with_systems", "with_people", *self.NARROWED_BY)
        chosen = {name: self.cleaned_data[name] for name in names}
        return summaries.candidates(self._haystacks_so_far(), user=self.user, **chosen)


def choice_of(study: Study, *, user: Any) -> dict[str, Any]:
    """Values of the form that chooses the summaries of a study again; none where it has none.

    That is a random draw, or all that match, or else a list. Fields that narrow show what the study has.
    """
    items = Summary.objects.filter(label_items__study=study)
    chosen = items.filter(label_items__study=study, label_items__role=LabelItem.Role.ORDINARY)
    if not chosen:
        return {}
    of_systems = chosen.exclude(origin=Summary.Origin.SESSION)
    haystacks = Haystack.objects.filter(pk__in=chosen.values("haystack"))
    subtopics, systems, retrievers = summaries.offered(haystacks, user=user)
    which: dict[str, Any] = {
        "with_systems": of_systems.exists(),
        "with_people": chosen.filter(origin=Summary.Origin.SESSION).exists(),
        "subtopics": narrowed_to(chosen.values_list("subtopic", flat=True), [row.pk for row in subtopics]),
        "systems": narrowed_to(of_systems.values_list("system__summarizer", flat=True), systems),
        "retrievers": narrowed_to(of_systems.values_list("system__retriever", flat=True), retrievers),
    }
    way: dict[str, Any] = {"way": "list", "list_text": "\n".join(str(row.uid) for row in chosen)}
    if haystacks.sources().exists():  # which datasets they were chosen from is not kept
        haystacks = haystacks.without_sources()
    elif study.labels_are_random:
        way = {"way": "sample", "n_sample": len(chosen)}
    elif set(chosen) <= set(summaries.candidates(haystacks, user=user, **which)) <= set(items):
        way = {"way": "all"}
    return {"haystacks": [row.pk for row in haystacks], **which, **way}


class OfSummaries(LabelWork):
    """Label work on summaries, chosen by a form that is also a `NewStudyForm`."""

    judged = SUMMARIES
    settings_form = TrialSettingsForm
    about_rows = ("item__summary__subtopic", "item__summary__system")
    about_label = "Summary"
    grouped = ("summary", "summaries")
    plan: type[Any]
    create_study: Callable[..., Study]
    add_summaries: Callable[..., int]

    def about(self, task: LabelTask) -> Remark:
        summary = task.item.summary
        url = reverse("benchmarks:summary-detail", args=[summary.uid]) if summary.has_page else ""
        return Remark(task, summary.subtopic.name, url, note=f"· {summary.system}")

    def create(self, *, form: Any, by: Any, now: datetime, **more: Any) -> Study:
        chosen = form.chosen(seed=form.chosen_seed)
        if not chosen:
            raise NotPossible("There is no summary of that kind in these haystacks.")
        return self.create_study(
            plan=form.plan(),
            summaries=chosen,
            at_random=form.draws_at_random,
            seed=form.chosen_seed,
            by=by,
            now=now,
            **more,
            **form.common(),
        )

    def demo_study(self, plan: dict[str, Any], **values: Any) -> Study:
        dataset, n, seed = values.pop("dataset"), values.pop("n"), values.pop("seed")
        drawn = summaries.drawn(dataset, n, seed=seed, user=values["by"])
        return self.create_study(plan=self.plan(**plan), summaries=drawn, **values)

    def initial_of(self, study: Study, user: Any) -> dict[str, Any]:
        return super().initial_of(study, user) | choice_of(study, user=user)

    def add_items(self, *, form: Any, study: Study, by: Any, now: datetime) -> int:
        chosen = form.chosen(seed=study.seed)
        return self.add_summaries(study=study, summaries=chosen, at_random=form.draws_at_random, by=by, now=now)
