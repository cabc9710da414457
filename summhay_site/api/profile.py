"""Pages of one's own tokens and webhooks, below the profile."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, time
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks.web.pages import HtmxHttpRequest, page
from benchmarks.web.permissions import requires
from summhay_site.accounts.logins import actor
from summhay_site.api import webhooks
from summhay_site.api.access import make_token, revoke_token
from summhay_site.models import Delivery, Token, Webhook

READ = "annotation.view_study"
SHOWN = 20


class TokenForm(forms.Form):
    """A name, what a token opens, for how much, and its last day."""

    name = forms.CharField(max_length=80, help_text="Where it is used, as “notebook on the laptop”.")
    scope = forms.ChoiceField(
        choices=Token.Scope.choices, required=False, help_text="Reading does not score, and scoring does not read."
    )
    budget = forms.DecimalField(
        label="Budget in US dollars",
        min_value=0,
        max_digits=12,
        decimal_places=4,
        required=False,
        help_text="Of scoring, for each model judge. Blank: no limit.",
    )
    ends_on = forms.DateField(
        label="Last day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="Blank: until it is revoked.",
    )

    def clean_ends_on(self) -> datetime | None:
        """The end of the day, in UTC."""
        day = self.cleaned_data["ends_on"]
        if day is None:
            return None
        end = datetime.combine(day, time.max, UTC)
        if end <= timezone.now():
            raise ValidationError("This day is over.")
        return end


class WebhookForm(forms.Form):
    """An address, and what it is told."""

    url = forms.URLField(label="Address", max_length=500, assume_scheme="https")
    events = forms.MultipleChoiceField(
        label="Tell it when", choices=Webhook.Event.choices, widget=forms.CheckboxSelectMultiple
    )

    def clean_url(self) -> str:
        """The address, if it is outside of the network."""
        url: str = self.cleaned_data["url"]
        try:
            webhooks.place_of(url)
        except webhooks.Refused as refusal:
            raise ValidationError(str(refusal)) from None
        return url


@requires(READ)
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HtmxHttpRequest) -> HttpResponse:
    """One's tokens; a new one is shown on this page once."""
    form, plain = TokenForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        values["ends_at"] = values.pop("ends_on")
        values["scope"] = values["scope"] or Token.Scope.READ
        _token, plain = make_token(user=actor(request), now=timezone.now(), **values)
        form = TokenForm()
    rows = Token.objects.filter(user=actor(request))
    context = {"form": form, "tokens": rows, "plain": plain, "now": timezone.now()}
    return _once(page(request, "site/tokens.html", context, status=422 if form.errors else 200))


def _once(response: HttpResponse) -> HttpResponse:
    """A page that may hold a secret, which no browser keeps."""
    response["Cache-Control"] = "no-store"
    return response


@requires(READ)
@require_POST
def token_revoke(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Revoke one's own token."""
    revoke_token(token=get_object_or_404(Token, uid=uid, user=actor(request)), by=request.user, now=timezone.now())
    return redirect("tokens")


@requires(READ)
@require_http_methods(["GET", "HEAD", "POST"])
def webhook_list(request: HtmxHttpRequest) -> HttpResponse:
    """One's webhooks with their last deliveries; the secret of a new one is shown once."""
    form, secret = WebhookForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        hook = webhooks.make_webhook(user=actor(request), now=timezone.now(), **form.cleaned_data)
        form, secret = WebhookForm(), webhooks.secret_of(hook)
    hooks = Webhook.objects.filter(user=actor(request))
    deliveries = Delivery.objects.filter(webhook__in=hooks).select_related("webhook")[:SHOWN]
    context: dict[str, Any] = {"form": form, "webhooks": hooks, "deliveries": deliveries, "secret": secret}
    return _once(page(request, "site/webhooks.html", context, status=422 if form.errors else 200))


@requires(READ)
@require_POST
def webhook_delete(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Delete one's own webhook with its deliveries."""
    hook = get_object_or_404(Webhook, uid=uid, user=actor(request))
    webhooks.delete_webhook(hook=hook, by=request.user, now=timezone.now())
    return redirect("webhooks")


urlpatterns = [
    path("tokens/", tokens, name="tokens"),
    path("tokens/<uuid:uid>/revoke/", token_revoke, name="token-revoke"),
    path("webhooks/", webhook_list, name="webhooks"),
    path("webhooks/<uuid:uid>/delete/", webhook_delete, name="webhook-delete"),
]
