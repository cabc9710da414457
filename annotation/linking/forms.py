"""Forms of linking studies. They check and translate; verbs do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.linking import choosing
from annotation.linking.planning import Checks, LinkingValues
from annotation.models import Study
from annotation.studies.forms import NewStudyForm
from benchmarks.models import Haystack, Summary

WAYS = [
    ("all", _("all that match")),
    ("sample", _("a random sample of them, stratified by system and subtopic")),
    ("list", _("a list of summary ids")),
]
NARROWED_BY = ("subtopics", "systems", "retrievers")
MAX_LIST_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Count:
    """How many summaries a form chooses, of how many that match, and how many of these each system has."""

    n: int
    n_matching: int
    systems: Sequence[tuple[str, int]]


class SummariesForm(forms.Form):
    """Which summaries: of which haystacks and whose, narrowed or not; all of them, a sample or a list.

    Only what the chosen haystacks have can be chosen from.
    """

    haystacks = forms.ModelMultipleChoiceField(
        label=_("Haystacks"),
        queryset=Haystack.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    with_systems = forms.BooleanField(label=_("Summaries of systems"), required=False, initial=True)
    with_people = forms.BooleanField(
        label=_("Summaries that people handed in"),
        required=False,
        initial=True,
        help_text=_("So that people and systems are labelled alike. Nobody gets their own."),
    )
    subtopics = forms.TypedMultipleChoiceField(
        label=_("Subtopics"),
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None ticked: all."),
    )
    systems = forms.MultipleChoiceField(
        label=_("Systems"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None ticked: all."),
    )
    retrievers = forms.MultipleChoiceField(
        label=_("Retrievers"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None ticked: all."),
    )
    way = forms.ChoiceField(label=_("Which of them"), choices=WAYS, initial="all", widget=forms.RadioSelect)
    n_sample = forms.IntegerField(label=_("Size of the sample"), min_value=1, max_value=100_000, required=False)
    seed = forms.IntegerField(
        label=_("Seed"),
        min_value=0,
        max_value=2**63 - 1,
        required=False,
        help_text=_("The same seed draws the same sample. Blank: taken from the name of the study."),
    )
    list_text = forms.CharField(
        label=_("Summary ids"),
        required=False,
        max_length=MAX_LIST_BYTES,
        widget=forms.Textarea(attrs={"rows": 5, "spellcheck": "false"}),
        help_text=_("One per row. Or choose a file:"),
    )
    list_file = forms.FileField(
        label=_("File with summary ids"),
        required=False,
        help_text=_("A text or CSV file with a summary id at the start of each row."),
    )

    def __init__(self, *args: Any, user: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = getattr(self, "user", user)
        self.fields["haystacks"].queryset = Haystack.objects.for_work().order_by("title")  # type: ignore[attr-defined]
        self._narrow_by(choosing.offered(self._haystacks_so_far(), user=self.user))

    def _haystacks_so_far(self) -> list[Haystack]:
        """Those that are ticked, whether or not the rest of the form is right."""
        ticked = [value for value in self["haystacks"].value() or () if str(value).isdecimal()]
        return list(self.fields["haystacks"].queryset.filter(pk__in=ticked))  # type: ignore[attr-defined]

    def _narrow_by(self, offer: choosing.Offer) -> None:
        is_one = len({subtopic.haystack_id for subtopic in offer.subtopics}) == 1
        choices: dict[str, list[tuple[Any, Any]]] = {
            "subtopics": [
                (row.pk, row.name if is_one else f"{row.haystack.title}: {row.name}") for row in offer.subtopics
            ],
            "systems": [(name, name) for name in offer.systems],
            "retrievers": [(name, name or _("full context")) for name in offer.retrievers],
        }
        for name, values in choices.items():
            self.fields[name].choices = values  # type: ignore[attr-defined]

    @property
    def narrowing(self) -> list[forms.BoundField]:
        """The fields that narrow, where there is more than one value to choose from."""
        return [self[name] for name in NARROWED_BY if len(self.fields[name].choices) > 1]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Read the list, or see that there is something to choose from."""
        data = super().clean() or {}
        self.listed: Sequence[Summary] = ()
        if data.get("way") == "list":
            self._read_list(data)
        elif not data.get("haystacks"):
            self.add_error("haystacks", _("Choose at least one haystack."))
        elif not (data.get("with_systems") or data.get("with_people")):
            self.add_error("with_systems", _("Choose summaries of systems, of people, or both."))
        if data.get("way") == "sample" and not data.get("n_sample"):
            self.add_error("n_sample", _("How many summaries?"))
        return data

    def _read_list(self, data: dict[str, Any]) -> None:
        upload, text = data.get("list_file"), data.get("list_text", "")
        if upload is None and not text:
            self.add_error("list_text", _("Paste the ids, or choose a file."))
            return
        field = "list_text" if upload is None else "list_file"
        try:
            if upload is not None and upload.size > MAX_LIST_BYTES:
                raise forms.ValidationError(_("The list is over 2 MB."))
            text = text if upload is None else upload.read().decode("utf-8-sig")
            self.listed = choosing.read_list(text, user=self.user)
        except UnicodeDecodeError:
            self.add_error(field, _("The file is not UTF-8 text."))
        except choosing.BadList as bad:
            shown = list(bad.problems[:20])
            if len(bad.problems) > len(shown):
                shown.append(_("… and %(n)d more rows.") % {"n": len(bad.problems) - len(shown)})
            self.add_error(field, forms.ValidationError(shown))
        except forms.ValidationError as problem:
            self.add_error(field, problem)

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
        return choosing.draw(
            self._matching(), data["n_sample"], seed=seed if data["seed"] is None else data["seed"]
        )

    def count(self) -> Count:
        """How many summaries that is, of a form that is right."""
        data = self.cleaned_data
        if data["way"] == "list":
            return Count(len(self.listed), len(self.listed), ())
        systems = choosing.counted(self._matching())
        n = sum(number for _name, number in systems)
        return Count(min(n, data["n_sample"]) if data["way"] == "sample" else n, n, systems)

    def _matching(self) -> QuerySet[Summary, Summary]:
        names = ("haystacks", "with_systems", "with_people", *NARROWED_BY)
        return choosing.candidates(user=self.user, **{name: self.cleaned_data[name] for name in names})


class LinkingStudyForm(NewStudyForm, SummariesForm):
    """All settings of a new linking study."""

    FOLDS: ClassVar[dict[str, tuple[str, ...]]] = {
        **NewStudyForm.FOLDS,
        "checks": ("allow_several_lines", "asks_unlinked", "n_training", "n_gold", "pass_mark", "checks_source"),
    }

    people_per_item = forms.IntegerField(label=_("Annotators per summary"), min_value=1, max_value=50, initial=1)
    overlap = forms.DecimalField(
        label=_("Labelled by everyone"),
        min_value=0,
        max_value=100_000,
        decimal_places=2,
        required=False,
        initial=10,
        help_text=_("Agreement is measured on summaries that several annotators label."),
    )
    overlap_unit = forms.ChoiceField(
        label=_("in"),
        choices=[("percent", _("percent")), ("number", _("summaries"))],
        initial="percent",
    )
    allow_several_lines = forms.BooleanField(
        label=_("Several bullets may cover one insight together"), required=False
    )
    asks_unlinked = forms.BooleanField(
        label=_("Ask why bullets cover no insight"),
        required=False,
        help_text=_(
            "Another subtopic, too general or unsupported: an optional choice for bullets without a link."
        ),
    )
    n_training = forms.IntegerField(
        label=_("Training summaries"),
        min_value=0,
        max_value=100,
        required=False,
        help_text=_("They come first and show the agreed answer after each choice. They count in no figure."),
    )
    n_gold = forms.IntegerField(
        label=_("Hidden gold summaries"),
        min_value=0,
        max_value=100,
        required=False,
        help_text=_("They look like any other. You see how often each annotator chose the agreed coverage."),
    )
    pass_mark = forms.DecimalField(
        label=_("Pass mark, percent"), min_value=0, max_value=100, decimal_places=2, required=False
    )
    checks_source = forms.ModelChoiceField(
        label=_("Agreed answers from"),
        queryset=Study.objects.none(),
        required=False,
        empty_label=_("none"),
        help_text=_("Its summaries whose every insight was agreed on by all, or adjudicated."),
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        self.user = user  # needed before the fields are made
        super().__init__(*args, user=user, **kwargs)
        sources = Study.objects.for_user(user).filter(kind=Study.Kind.LINKING, coverage_labels__isnull=False)
        self.fields["checks_source"].queryset = sources.distinct()  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """A percentage ends at 100; a number is whole."""
        data = super().clean()
        overlap = data.get("overlap") or Decimal(0)
        if data.get("overlap_unit") == "percent" and overlap > 100:
            self.add_error("overlap", _("100 percent or less."))
        if data.get("overlap_unit") == "number" and overlap != int(overlap):
            self.add_error("overlap", _("A whole number of summaries."))
        if (data.get("n_training") or data.get("n_gold")) and not data.get("checks_source"):
            self.add_error("checks_source", _("Choose the study whose agreed answers are used."))
        return data

    @property
    def has_sources(self) -> bool:
        """Whether any study has labels to take agreed answers from."""
        return bool(self.fields["checks_source"].queryset)  # type: ignore[attr-defined]

    def plan(self) -> LinkingValues:
        """The settings for the verbs."""
        data = self.cleaned_data
        overlap = data["overlap"] or Decimal(0)
        is_share = data["overlap_unit"] == "percent"
        return LinkingValues(
            people_per_item=data["people_per_item"],
            overlap_share=overlap / 100 if is_share else None,
            overlap_number=None if is_share else int(overlap),
            allow_several_lines=data["allow_several_lines"],
            asks_unlinked=data["asks_unlinked"],
            pass_mark=None if data["pass_mark"] is None else data["pass_mark"] / 100,
        )

    def checks(self) -> Checks | None:
        """Training and gold items, if any are wanted."""
        data = self.cleaned_data
        n_training, n_gold = data["n_training"] or 0, data["n_gold"] or 0
        if not n_training + n_gold:
            return None
        return Checks(source=data["checks_source"], n_training=n_training, n_gold=n_gold)
