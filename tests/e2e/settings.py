"""Settings of the sites of the stories: the site as it is, but a password costs no third of a second."""

import os

from summhay_site.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
RESULTS_AT_ONCE = os.environ.get("STORY_HAS_WORKERS") is None
"""Only where a story starts workers of its own do figures wait for them."""
