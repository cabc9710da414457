"""Settings of the sites of the stories: the site as it is, but a password costs no third of a second."""

from __future__ import annotations

from summhay_site.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
