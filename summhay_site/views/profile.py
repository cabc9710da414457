"""The pages of one's own account."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import LOGGED_IN, requires
from summhay_site.accounts import update_profile
from summhay_site.forms import ProfileForm
from summhay_site.languages import language_of
from summhay_site.views.actor import actor


@requires(LOGGED_IN)
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HtmxHttpRequest) -> HttpResponse:
    """Change one's own name, time zone and language."""
    person = actor(request)
    form = ProfileForm(request.POST or None, person=person)
    if request.method == "POST" and form.is_valid():
        update_profile(user=person, now=timezone.now(), **form.cleaned_data)
        with translation.override(language_of(request)):
            messages.success(request, _("Saved."))
        return redirect("profile")
    return page(request, "site/profile.html", {"form": form}, status=422 if form.errors else 200)
