"""Settings of the suite: those of the site, with fast passwords, tasks in place and files from where they stand.

Only the suite itself runs with them; a program that a test starts is the site as it is (see `conftest`).
"""

import tempfile
from pathlib import Path

from summhay_site import env
from summhay_site.settings import *  # noqa: F403
from summhay_site.settings import LOGGING, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CELERY_TASK_ALWAYS_EAGER = env.flag("TEST_CELERY_EAGER", default=True)
CELERY_TASK_EAGER_PROPAGATES = True
RESULTS_AT_ONCE = True
LOGGING["root"]["level"] = "WARNING"
STATIC_ROOT = None
_folder = tempfile.TemporaryDirectory(prefix="summhay-tests-")
DATA_DIR = Path(_folder.name)  # nothing that a test writes ends up among real data
STORAGES["uploads"] = env.uploads("UPLOADS", folder=DATA_DIR / "uploads", shared=False)
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True  # looks for a file when it is asked for, not for all of them with every client
