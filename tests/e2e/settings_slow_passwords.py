"""Settings of a site with one thread for passwords, on which one takes about as long as on a site under a rush."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher

from summhay_site.settings import *  # noqa: F403

PBKDF2PasswordHasher.iterations = 4_000_000
PASSWORD_PLACES = PASSWORDS_AT_ONCE = 1
