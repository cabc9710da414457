"""Every address of the site, whose it is, and the one rule of what it may answer to whom."""

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from benchmarks.web.permissions import LOGGED_IN
from summhay_site.accounts.models import ADMIN, ANNOTATOR, PERMISSIONS, RESEARCHER

PUBLIC = "public"
DJANGO_ADMIN = "admin"
SAFE = ("GET", "HEAD", "OPTIONS")
METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE")
ROLES: dict[str, str | None] = {
    "nobody": None,
    "deactivated": None,
    "annotator": ANNOTATOR,
    "annotator elsewhere": ANNOTATOR,
    "researcher": RESEARCHER,
    "researcher elsewhere": RESEARCHER,
    "admin": ADMIN,
}
"""Who asks, and the role whose permissions they have. “Elsewhere” is who is in none of these studies."""
STRANGERS = ("annotator elsewhere", "researcher elsewhere")
PRIVATE = re.compile(
    r"^(work/sessions|work/<label_kind:kind>|work/labels|work/studies|work/tasks|studies|sessions|assignments"
    r"|corpora/import|publications|profile/tokens|profile/webhooks|api/studies)/<uuid:uid>"
)
"""Where the first object of an address is somebody's: of an annotator, of a study, of who sent a file."""
SHARED = re.compile(
    r"^(corpora|questions|judges|summarizers|people|results|exports|agreement|approvals|licences|leaderboard|consent-text|help|public"
    r"|api/(haystacks|questions|leaderboard|public|scores)"
    r"|studies/<(str|slug):kind>|studies/recipes|work/preferences|password|join)/"
)
"""Where all of a role see the same objects."""
FILES = {"study-file": "sessions.csv", "verification-dataset-file": "all.csv"}
"""Files that are there for a study's own people, so that no answer is missing for another reason."""


@dataclass(frozen=True)
class Address:
    """One pattern of the URL configuration, with something plausible in the place of each argument."""

    path: str
    name: str
    access: str | None
    has_object: bool
    route: str = ""

    def __str__(self) -> str:
        return self.name or self.path

    @property
    def is_private(self) -> bool:
        """Whether a stranger must not learn that the object is there."""
        return bool(PRIVATE.match(self.route))

    @property
    def is_classified(self) -> bool:
        """Whether it is known whose its object is."""
        return not self.has_object or self.is_private or bool(SHARED.match(self.route))

    def of(self, kind: str, uid) -> str:
        """The address of this object, or of a file of it that its people can download."""
        name, form = FILES.get(self.name, "figures.json"), "csv" if self.name == "adjudicated" else kind
        values = {"uuid:uid": str(uid), "label_kind:kind": kind, "slug:kind": form, "slug:file_format": "csv"}
        return fill(self.route, {**values, "str:name": name})


def _value(kind: str) -> str:
    if kind == "uuid":
        return str(uuid.UUID(int=0x5EED, version=4))
    return {"int": "1", "label_kind": "linking"}.get(kind, "x")


def fill(route: str, values: dict[str, str]) -> str:
    """A route as a path, with these values and plausible ones for the rest."""

    def value(match: re.Match[str]) -> str:
        return values.get(match["argument"]) or _value(match["kind"] or "str")

    return "/" + re.sub(r"<(?P<argument>(?:(?P<kind>\w+):)?\w+)>", value, route)


def _walk(patterns, prefix: str = "") -> Iterator[tuple[Address, Any]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            if pattern.namespace != DJANGO_ADMIN:
                yield from _walk(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            access = getattr(pattern.callback, "access", None)
            has_object = bool(pattern.pattern.converters)
            yield Address(fill(route, {}), pattern.name or "", access, has_object, route), pattern.callback


VIEWS = list(_walk(get_resolver().url_patterns))
ADDRESSES = [address for address, _view in VIEWS]
GUARDED = [address for address in ADDRESSES if address.access not in (None, PUBLIC)]


def is_allowed(role: str | None, access: str | None) -> bool:
    """Whether a role may open what carries this mark."""
    return role is not None and (access == LOGGED_IN or access in PERMISSIONS[role])


def is_right(address: Address, who: str, method: str, response, *, is_real: bool) -> bool:
    """The rule: whether this may be answered. `is_real` says that the object is there, and of a study."""
    code, location = response.status_code, response.headers.get("Location", "")
    asks_to_log_in = (
        code == 401 or (code == 302 and location.startswith("/login/")) or (code == 204 and not location)
    )
    if address.access == PUBLIC:  # whom Django's admin turns away is told so at its log-in
        is_refused = code == 403 and ROLES[who] is None
        is_broken = code >= 500 and not (code == 503 and address.name == "ready")  # which is its answer
        return not is_refused and not is_broken
    if code == 405:  # also before anybody looks who asks
        return True
    if ROLES[who] is None:
        return asks_to_log_in
    if not is_allowed(ROLES[who], address.access):
        return bool(code == 403)
    if asks_to_log_in or code >= 500:
        return False
    if method in {"PUT", "PATCH", "DELETE"}:
        return False  # no address takes these
    if address.has_object and not is_real:
        # 400 is fine for a message whose body was refused before anything was looked up
        return bool(code == 404 or (code == 400 and method == "POST") or (code == 200 and method == "OPTIONS"))
    if is_real and who in STRANGERS:
        return bool(code == 404 or (code == 400 and method == "POST") or (code == 200 and method == "OPTIONS"))
    return is_real or code != 403
