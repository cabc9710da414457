"""The forms of accounts and people."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, SetPasswordForm, UsernameField
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotation.models import Annotator
from benchmarks.web.groups import GroupedForm
from summhay_site.accounts import people_csv
from summhay_site.accounts.accounts import NewAccount, may_create
from summhay_site.accounts.models import ADMIN, ANNOTATOR, RESEARCHER, User, known_time_zones

ROLES = ((ANNOTATOR, "annotator"), (RESEARCHER, "researcher"), (ADMIN, "admin"))
LEGACY_AREAS = {"Etc", "SystemV", "US", "Brazil", "Canada", "Chile", "Mexico", "posix", "right"}


def time_zone_choices(current: str) -> list[tuple[str, Any]]:
    """UTC first, then the areas with their places; a legacy name only where the person has it."""
    areas: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(known_time_zones()):
        area, slash, place = name.partition("/")
        if slash and area not in LEGACY_AREAS:
            areas.setdefault(area, []).append((name, place.replace("_", " ")))
    unlisted = (
        [] if current == "UTC" or any(current == n for rows in areas.values() for n, _p in rows) else [current]
    )
    return [("UTC", "UTC"), *((name, name) for name in unlisted), *areas.items()]


class LoginForm(AuthenticationForm):
    """The login, with the words of the other pages."""

    username = UsernameField(label=_("User name"), widget=forms.TextInput(attrs={"autofocus": True}))


class PasswordSetForm(SetPasswordForm):  # type: ignore[type-arg]
    """A password and, where the site sends mail, the address to which it may send links."""

    email = forms.EmailField(
        label=_("Email address"),
        required=False,
        help_text=_(
            "If you forget your password, a link to set a new one can be sent there, so nobody else should have "
            "access to it. Correct it if it is not yours, or leave it empty."
        ),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def __init__(self, user: User | None, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.fields["email"].initial = user.email if user else ""
        if not settings.EMAIL_IS_SET:
            del self.fields["email"]

    def address(self) -> str:
        """The address that was given; the one before, where the form did not ask."""
        user: User = self.user
        return str(self.cleaned_data["email"]) if "email" in self.data else user.email


class AccountForm(GroupedForm):
    """One new account; only the roles that the actor may give."""

    username = UsernameField(
        label=_("User name"),
        max_length=150,
        validators=User._meta.get_field("username").validators,
        help_text="To log in with: letters, digits and @ . + - _",
        error_messages={"invalid": "Letters, digits and @ . + - _ only."},
    )
    name = forms.CharField(label=_("Name"), max_length=120, help_text="Never part of an export.")
    email = forms.EmailField(label=_("Email address"), required=False, help_text="Not needed.")
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=(("", "as in the browser, mails in English"), *settings.LANGUAGES),
        help_text="Of an annotator's pages and mails, the first one included. It can be changed in the profile.",
    )
    role = forms.ChoiceField(label="Role", choices=ROLES, initial=ANNOTATOR)

    def __init__(self, *args: Any, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].widget.attrs.update(autocomplete="off", autofocus=False)
        if "group" in self.fields:
            self.fields[
                "group"
            ].help_text = "Only this group's researchers see this person; without a group, all do."
        choices = [choice for choice in ROLES if may_create(actor, role=choice[0])]
        self.fields["role"].choices = choices  # type: ignore[attr-defined]
        if len(choices) == 1:
            self.fields["role"].widget = forms.HiddenInput()

    def clean_username(self) -> str:
        """Refuse a name that exists, in whatever case."""
        username: str = self.cleaned_data["username"]
        if User.objects.taken([username]):
            raise ValidationError("This user name exists already; choose another.")
        return username

    def row(self) -> NewAccount:
        data = self.cleaned_data
        return NewAccount(
            username=data["username"], name=data["name"], email=data["email"], language=data["language"]
        )


class PeopleFileForm(forms.Form):
    file = forms.FileField(
        label="CSV file",
        help_text=(
            "The first line names the columns: username, name and, if you like, email and language (en or de). "
            "Up to 1,000 people."
        ),
        widget=forms.FileInput(attrs={"accept": ".csv,text/csv"}),
    )

    def clean_file(self) -> str:
        try:
            return people_csv.decode(self.cleaned_data["file"].chunks())
        except ValueError as error:
            raise ValidationError(str(error)) from error


class DetailsForm(forms.Form):
    """Name and mail address of a person."""

    name = forms.CharField(label=_("Name"), max_length=120, required=False)
    email = forms.EmailField(label=_("Email address"), required=False)


class RoleForm(forms.Form):
    role = forms.ChoiceField(label="Role", choices=ROLES)


class AccommodationForm(forms.ModelForm):  # type: ignore[type-arg]
    """Adjustments that a person needs to work on equal terms."""

    class Meta:
        model = Annotator
        fields = ("limit_factor", "may_paste", "accommodation_note")
        labels = {
            "limit_factor": "Time, as a multiple of the limit",
            "may_paste": "Pasted text is flagged, never blocked (dictation tools)",
            "accommodation_note": "Note",
        }
        help_texts = {
            "limit_factor": "1 to 10; 1.50 gives half as much time again. For sessions that have not begun.",
            "may_paste": "",
            "accommodation_note": "Only admins see it. It is not in the audit log, and erased with the person.",
        }
        widgets = {
            "limit_factor": forms.NumberInput(attrs={"min": "1", "max": "10", "step": "0.05"}),
            "accommodation_note": forms.Textarea(attrs={"rows": 3}),
        }

    def clean_limit_factor(self) -> Any:
        """Keep to what the database allows."""
        value = self.cleaned_data["limit_factor"]
        if not 1 <= value <= 10:
            raise ValidationError("Use a number from 1 to 10.")
        return value


class ProfileForm(forms.Form):
    """One's own name and time zone; for whoever reads pages that are translated, their language."""

    name = forms.CharField(
        label=_("Name"), max_length=120, required=False, help_text=_("Researchers see it; it is never exported.")
    )
    time_zone = forms.ChoiceField(label=_("Time zone"), help_text=_("All pages show times in this zone."))
    language = forms.ChoiceField(
        label=_("Language"),
        required=False,
        choices=(("", _("as in the browser")), *settings.LANGUAGES),
        help_text=_("Of all pages and mails. Texts and guidelines stay as they were written."),
    )
    reminders = forms.BooleanField(
        label=_("Email me reminders of tasks that are due"),
        required=False,
        help_text=_("At most one email a day."),
    )

    def __init__(self, *args: Any, person: User, **kwargs: Any) -> None:
        kwargs["initial"] = {"name": person.name, "time_zone": person.time_zone, "language": person.language}
        super().__init__(*args, **kwargs)
        if person.runs_studies:
            del self.fields["language"]
        annotator = Annotator.objects.filter(user=person).first()
        if annotator is None or not settings.EMAIL_IS_SET:
            del self.fields["reminders"]
        else:
            self.fields["reminders"].initial = annotator.wants_reminders
        self.fields["time_zone"].choices = time_zone_choices(person.time_zone)  # type: ignore[attr-defined]
        self.fields["name"].widget.attrs["autocomplete"] = "name"


class ForgottenForm(forms.Form):
    email = forms.EmailField(
        label=_("Email address"), max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
