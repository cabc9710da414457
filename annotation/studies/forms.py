"""Forms of studies of any kind, and of consent. They check and translate; verbs do."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import transaction
from django.forms.models import model_to_dict
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from annotation.models import Annotator, Study
from annotation.studies.dealing import stable_seed
from annotation.studies.guidelines import MarkdownField, current_guideline
from annotation.studies.lifecycle import Details, details_of
from benchmarks.access.sight import whole_site
from benchmarks.web.forms import FoldedForm, RowsField
from benchmarks.web.groups import GroupedForm

SEEN = "seen"
"""The hidden field with what the page showed when it was opened."""


def shown_by(form: forms.BaseForm) -> str:
    """A short hash of what an unbound form shows; the database may give what is chosen in any order."""
    shown = {name: form[name].value() for name in form.fields}
    values = "\n".join(
        f"{name}={sorted(map(str, value)) if isinstance(value, list) else value!r}"
        for name, value in shown.items()
    )
    return hashlib.sha256(values.encode()).hexdigest()[:16]


@contextmanager
def saving_alone(request: HttpRequest, study: uuid.UUID) -> Iterator[None]:
    """Where something is sent let nobody else save the study from before the check until it is stored."""
    if request.method != "POST":
        yield
        return
    with transaction.atomic():
        Study.objects.select_for_update().filter(uid=study).first()
        yield


def is_overtaken(request: HttpRequest, now_shown: str) -> bool:
    """Whether the page that sent this showed something else than is stored now."""
    return (request.POST.get(SEEN) or now_shown) != now_shown


class DetailsForm(FoldedForm):
    """Name and pay of a study; `study` fills it."""

    FIRST: ClassVar[tuple[str, ...]] = ("description", "due_at")
    SAID: ClassVar[Mapping[str, tuple[str, str]]] = {
        "contact": ("contact {}", "no contact address"),
        "due_at": ("due {}", "no due date"),
        "hourly_rate": ("pay {} an hour", "no pay"),
    }

    name = forms.CharField(label=_("Name"), max_length=120)
    description = forms.CharField(
        label="Description",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Annotators see the name and the description.",
    )
    contact = forms.EmailField(label="Contact address", required=False, help_text="Shown on every work page.")
    due_at = forms.DateTimeField(
        label=_("Due"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    hourly_rate = forms.DecimalField(
        label="Hourly rate", min_value=0, max_value=10_000, decimal_places=2, initial=25
    )
    currency = forms.RegexField(
        label="Currency",
        regex=r"^[A-Z]{3}$",
        initial="USD",
        error_messages={"invalid": "Three capital letters, like USD or EUR."},
    )

    def __init__(self, *args: Any, user: Any = None, study: Study | None = None, **kwargs: Any) -> None:
        self.user, self.study = user, study  # what chooses items reads the user while its fields are made
        if study is not None:
            kwargs.setdefault("initial", details_of(study))
        super().__init__(*args, **kwargs)

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The name, and what chooses items."""
        return ("name", *getattr(self, "ITEMS", ()), *getattr(self, "NARROWED_BY", ()))

    def _said(self, field: forms.BoundField) -> str:
        """The pay in its currency, which says nothing by itself."""
        said = "" if field.name == "currency" else super()._said(field)
        return said.replace(" an hour", f" {self['currency'].value()} an hour")

    def clean_name(self) -> str:
        """Names are unique, whoever may see the other study."""
        return unique_name(self.cleaned_data["name"], but=self.study)

    def details(self) -> Details:
        names = (item.name for item in fields(Details))
        return Details(**{name: self.cleaned_data[name] for name in names if name in self.cleaned_data})


class TrialFields(forms.Form):
    """Whether label work begins with a trial, and who may go on; beside a `DetailsForm`."""

    SAID: ClassVar[Mapping[str, tuple[str, str]]] = {
        **DetailsForm.SAID,
        "has_trial": ("a trial first", "no trial"),
    }

    has_trial = forms.BooleanField(
        label="New annotators begin with a trial",
        required=False,
        initial=True,
        help_text=(
            "Three or more examples on the page of the work, each with its answer explained. About two minutes, "
            "not paid and not timed; its answers are in no figure."
        ),
    )
    trial_pass_percent = forms.DecimalField(
        label="Right answers needed to go on, percent",
        min_value=0,
        max_value=100,
        decimal_places=2,
        required=False,
        help_text="Blank: everybody goes on.",
    )
    trial_tries = forms.IntegerField(
        label="Tries",
        min_value=1,
        max_value=10,
        initial=2,
        required=False,
        help_text="Each with other examples, as far as there are any. You can allow somebody another one.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if share := self.initial.get("trial_pass_share"):
            self.initial.setdefault("trial_pass_percent", percent(share))

    def details(self) -> Details:
        """The values for the verbs, with the share of one."""
        of_study: Details = super().details()  # type: ignore[misc]
        needed = self.cleaned_data["trial_pass_percent"]
        share = None if needed is None else needed / 100
        return replace(of_study, trial_pass_share=share, trial_tries=self.cleaned_data["trial_tries"] or 2)


class TrialSettingsForm(TrialFields, DetailsForm):
    """Name and pay of a study of label work, and whether a trial comes first."""


class NewStudyForm(GroupedForm, DetailsForm):
    """Details, people and guidelines of a new study; a kind adds its own settings."""

    FIRST: ClassVar[tuple[str, ...]] = ("annotators",)

    annotators = RowsField(
        label="Annotators",
        queryset=Annotator.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    researchers = RowsField(
        label="Researchers who see this study",
        queryset=get_user_model().objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="You and the admins always do.",
    )
    guidelines = MarkdownField(
        label=_("Guidelines"),
        help_text="Markdown. Annotators open them with one key. You can add versions later.",
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        annotators: Any = self.fields["annotators"]
        annotators.queryset = Annotator.objects.reachable().visible_to(user).order_by("label")
        researchers: Any = self.fields["researchers"]
        may_work = Permission.objects.filter(content_type__app_label="annotation", codename="change_study")
        people = get_user_model().objects.colleagues_of(user).filter(is_active=True)
        people = people.filter(groups__permissions__in=may_work)
        researchers.queryset = people.exclude(pk=user.pk).distinct()
        researchers.label_from_instance = lambda person: person.display_name
        if self.study is not None:
            self.fields.pop("group", None)  # it is moved on a page of its own

    @property
    def chosen_seed(self) -> int:
        """The seed, of forms that ask for one; by default drawn from the name of the study."""
        seed: int | None = self.cleaned_data["seed"]
        return stable_seed("study", self.cleaned_data["name"]) if seed is None else seed

    def common(self) -> dict[str, Any]:
        """Arguments of every verb that makes a study."""
        people = {name: self.cleaned_data[name] for name in ("annotators", "researchers", "guidelines")}
        return {"details": self.details(), **people}


NARROWS_FIRST = "What narrows figures soonest comes first"
NARROWS_FIRST_HELP = (
    "Instead of one subtopic, question or response after the other, in an order of each person: what most people"
    " get first, of each in turn, in the same order for everybody. Results are narrower while work is under way;"
    " people change the topic more often, and tire on the same items. No answer and no verdict decides on the"
    " order, so figures stay as right as by lot."
)


class PlanForm(forms.ModelForm):  # type: ignore[type-arg]
    """The settings of a kind of study: a form of their model, beside `NewStudyForm`.

    Where settings are shown in other units than stored, `shown` and `plan` convert them.
    """

    def __init__(
        self, *args: Any, instance: Any = None, initial: Mapping[str, Any] | None = None, **kwargs: Any
    ) -> None:
        plan = self.usual_plan() if instance is None else instance
        kwargs |= {"instance": plan, "initial": {**self.shown(plan), **(initial or {})}}
        super().__init__(*args, **kwargs)
        for name, value in self.shown(self.usual_plan()).items():
            if name in self.fields:
                self.fields[name].initial = value

    @classmethod
    def usual_plan(cls) -> Any:
        """The settings that a new study starts with: the defaults of the model."""
        return cls._meta.model()

    @classmethod
    def shown(cls, plan: Any) -> dict[str, Any]:
        """Values of settings as the form shows them."""
        return model_to_dict(plan, fields=cls._meta.fields)

    def plan(self) -> Any:
        """The settings as a row, not stored."""
        return self.instance


class PeopleForm(forms.Form):
    """People to add to a study and, where tasks are assigned at once, how to share the work with them."""

    annotators = RowsField(
        label="Add annotators",
        queryset=Annotator.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    rebalance = forms.BooleanField(label="Redistribute unopened tasks", required=False, initial=True)

    def __init__(self, *args: Any, study: Study, user: Any, deals: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["annotators"]
        field.queryset = Annotator.objects.free_for(study).visible_to(user).order_by("label")
        if not deals:
            field.required = True
            del self.fields["rebalance"]


class ReasonForm(forms.Form):
    """Why something is done; kept in the log."""

    reason = forms.CharField(label=_("Reason"), max_length=2000, widget=forms.Textarea(attrs={"rows": 2}))


class CloneForm(forms.Form):
    name = forms.CharField(label="Name of the copy", max_length=120)
    with_annotators = forms.BooleanField(label="Keep its annotators", required=False, initial=True)

    def clean_name(self) -> str:
        return unique_name(self.cleaned_data["name"])


class BodyForm(forms.Form):
    """A new version of a Markdown text."""

    body = MarkdownField(label="Text", strip=False, help_text="Markdown; raw HTML is shown as text.")


class ConsentForm(forms.Form):
    """Agree to the version that was shown."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    agree = forms.BooleanField(
        label=_("I have read the above and agree to take part."),
        error_messages={"required": _("Tick the box to agree; without it no task can be opened.")},
    )


def unique_name(name: str, *, but: Study | None = None) -> str:
    """The name, unless another study has it; raises ValidationError."""
    with whole_site():
        if Study.objects.filter(name=name).exclude(pk=but and but.pk).exists():
            raise forms.ValidationError("Another study has this name.")
    return name


def initial_from(study: Study) -> dict[str, Any]:
    """Initial values of a new study that starts from the settings of another."""
    newest = current_guideline(study)
    return {
        **details_of(study),
        "name": copy_name(study),
        "due_at": None,
        "guidelines": newest.body if newest else "",
        "seed": None if study.seed == stable_seed("study", study.name) else study.seed,
        "annotators": list(study.memberships.current().values_list("annotator_id", flat=True)),
        "researchers": list(study.researchers.values_list("pk", flat=True)),
    }


def name_for(kind: Any, about: str) -> str:
    """Name of a new study about a corpus at first: its kind and the corpus, with a number where taken."""
    name = f"{kind}: {about}".strip()[:100]
    name = name[:1].upper() + name[1:]
    n = 1
    with whole_site():
        while Study.objects.filter(name=name if n == 1 else f"{name} ({n})").exists():
            n += 1
    return name if n == 1 else f"{name} ({n})"


def copy_name(study: Study) -> str:
    return f"{study.name[:110]} (copy)"


def short(number: Decimal) -> Decimal:
    """A number with two digits after the point, or none where they are zeros."""
    value = Decimal(number).quantize(Decimal("0.01"))
    return value.to_integral() if value == value.to_integral() else value


def percent(share: Decimal | None) -> Decimal | None:
    return None if share is None else short(100 * Decimal(share))
