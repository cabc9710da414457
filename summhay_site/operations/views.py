"""Pages for admins: how the workers, the disk and the database are, and erasing a person for good."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import connection
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.models import Annotator, Removal
from annotation.people.removal import going_of
from annotation.studies.removed import in_words
from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from summhay_site.accounts import accounts
from summhay_site.accounts.models import User
from summhay_site.accounts.person_views import person_of, say_last_admin
from summhay_site.accounts.reader import actor
from summhay_site.models import LastTime
from summhay_site.operations import erasing
from summhay_site.operations import system as signs
from summhay_site.operations.schedule import BACKUP


class EraseForm(forms.Form):
    """What becomes of the work, and the user name again, so that nobody is erased by a slip."""

    mode = forms.ChoiceField(
        label="Texts and labels",
        choices=(
            (Removal.Mode.ANONYMOUS, "Keep, without a name"),
            (Removal.Mode.DELETED, "Delete"),
        ),
        initial=Removal.Mode.ANONYMOUS,
        widget=forms.RadioSelect,
    )
    username = forms.CharField(label="User name of the person to erase", max_length=150)

    def __init__(self, *args: Any, person: User, has_work: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.person = person
        if not has_work:
            del self.fields["mode"]
        self.fields["username"].widget.attrs.update(autocomplete="off", autocapitalize="none")

    def clean_username(self) -> str:
        """Raise an error unless it is the user name on the page."""
        username: str = self.cleaned_data["username"].strip()
        if username != self.person.username:
            raise ValidationError("That is not the user name of this person.")
        return username


@requires("summhay_site.view_workerheartbeat")
@require_safe
@never_cache
def system(request: HtmxHttpRequest) -> HttpResponse:
    """Workers, disk, database and queue."""
    now = timezone.now()
    context = {
        "alarm": signs.read_alarm(now=now),
        "workers": signs.read_workers(now=now),
        "queue": signs.read_queue(now=now),
        "database_bytes": signs.database_bytes(),
        "database_kind": connection.vendor,
        "can_mail": settings.EMAIL_IS_SET,
        "has_backups": settings.BACKUP_DIR is not None,
        "last_backup": LastTime.objects.filter(name=BACKUP).values_list("at", flat=True).first(),
        "now": now,
    }
    return page(request, "site/system.html", context)


@requires("summhay_site.delete_user")
@require_http_methods(["GET", "HEAD", "POST"])
def person_erase(request: HtmxHttpRequest, uid: UUID) -> HttpResponse:
    """Remove a person for good, after a look at what goes; the work stays without the name, or goes too."""
    shown = person_of(request, uid)
    if shown.pk == actor(request).pk:
        context = {"person": shown, "is_own": True}
        return page(request, "site/person_erase.html", context, status=422 if request.method == "POST" else 200)
    annotator = Annotator.objects.filter(user=shown).first()
    form = EraseForm(request.POST or None, person=shown, has_work=annotator is not None)
    if request.method == "POST" and form.is_valid():
        mode = form.cleaned_data.get("mode", Removal.Mode.ANONYMOUS)
        try:
            erasing.erase(actor=actor(request), user=shown, mode=mode, now=timezone.now())
        except accounts.LastAdmin:
            form.add_error(None, say_last_admin())
        except OSError as error:
            form.add_error(
                None, "Nothing was erased: the list of removals cannot be written (%s)." % error.strerror
            )
        else:
            messages.success(request, "The person was erased.")
            return redirect("people")
    going = going_of(annotator) if annotator is not None else None
    context = {
        "person": shown,
        "form": form,
        "going": going,
        "rows": in_words(going.totals) if going else [],
    }
    return page(request, "site/person_erase.html", context, status=422 if form.errors else 200)
