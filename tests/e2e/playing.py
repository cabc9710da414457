"""Plays scenes on the site's own database, several in one process: `python -m tests.e2e.playing scene.prepare …`.

Prints what each verb gives, by its name. Whoever is there afterwards is logged in: `logins.json` in the data
folder holds what the web session of each of them would hold.
"""

import json
import sys
from importlib import import_module
from pathlib import Path

import django

LOGINS = "logins.json"


def play(name: str):
    """Do what a verb of a scene does; `scene_slow.prepare` is one."""
    module, _, verb = name.partition(".")
    return getattr(import_module(f"tests.e2e.{module}"), verb)()


def save_logins() -> None:
    """Log in everybody who is not yet, as the form would."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.contrib.sessions.models import Session
    from django.test import Client

    file = Path(settings.DATA_DIR) / LOGINS
    saved: dict[str, str] = json.loads(file.read_text()) if file.exists() else {}
    for user in get_user_model().objects.filter(is_active=True).exclude(username__in=saved):
        client = Client()
        client.force_login(user, backend="summhay_site.authentication.AccountBackend")
        key = client.cookies[settings.SESSION_COOKIE_NAME].value
        saved[user.get_username()] = Session.objects.get(session_key=key).session_data
    file.write_text(json.dumps(saved))


if __name__ == "__main__":
    django.setup()
    print(json.dumps({name: play(name) for name in sys.argv[1:]}))
    save_logins()
