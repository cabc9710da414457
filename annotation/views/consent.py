"""The consent page of an annotator."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from annotation import consent, tasklist
from annotation.consent_gate import open_without_consent
from annotation.forms import ConsentForm
from annotation.guidelines import render_markdown
from annotation.views.scope import annotator_behind
from benchmarks.web.pages import page
from benchmarks.web.permissions import requires


@requires("annotation.do_work")
@require_http_methods(["GET", "HEAD", "POST"])
@open_without_consent
def consent_page(request: HttpRequest) -> HttpResponse:
    """Read the current text, and agree to it once."""
    annotator = annotator_behind(request)
    text = consent.current_text()
    form = ConsentForm(request.POST or None, initial={"version": text.version if text else None})
    if request.method == "POST" and form.is_valid():
        try:
            consent.give(annotator=annotator, version=form.cleaned_data["version"], now=timezone.now())
        except consent.StaleConsentText:
            messages.warning(request, _("The text has changed meanwhile; please read the new one."))
            return redirect("annotation:consent")
        messages.success(request, _("Thank you. You can withdraw at any time: follow “Consent” below your tasks."))
        return redirect("annotation:work")
    context = {
        "form": form,
        "text": text,
        "html": render_markdown(text.body) if text else "",
        "given": annotator.consents.in_force().filter(text=text).first() if text else None,
        "contacts": tasklist.contacts(annotator),
        "history": annotator.consents.select_related("text").order_by("-given_at"),
    }
    return page(request, "annotation/consent.html", context, status=422 if form.errors else 200)


@requires("annotation.do_work")
@require_POST
@open_without_consent
def consent_withdraw(request: HttpRequest) -> HttpResponse:
    """Withdraw; what was written and earned stays."""
    annotator = annotator_behind(request)
    if consent.withdraw(annotator=annotator, by=request.user, now=timezone.now()):
        messages.success(
            request, _("Your consent is withdrawn. No further task can be opened; what you have earned stays.")
        )
    return redirect("annotation:consent")
