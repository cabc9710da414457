"""Settings, all from the environment; safe defaults for a laptop, explicit values in production."""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from celery.schedules import crontab
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from kombu import Queue

from summhay_site import env
from summhay_site.postgresql.limits import Limits
from summhay_site.serving import logs

# Matrices of figures are small: several threads on one cost more than they save, the more the busier a machine is.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

PACKAGE_DIR = Path(__file__).resolve().parent
IS_CHECKOUT = not (PACKAGE_DIR / "assets").is_dir()
"""In a checkout templates and static files stand at the top; a wheel carries them in `summhay_site/assets`."""
BASE_DIR = PACKAGE_DIR.parent if IS_CHECKOUT else PACKAGE_DIR / "assets"
DOCS_DIR = BASE_DIR / "docs"
DATA_DIR = env.data_folder("DATA_DIR", default=BASE_DIR / "var" if IS_CHECKOUT else None)

DEBUG = env.flag("DEBUG")
HTTPS = env.flag("HTTPS")
SECRET_KEY = env.secret_key("SECRET_KEY", file=DATA_DIR / "secret_key", required=HTTPS)
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", "" if HTTPS else "localhost,127.0.0.1,[::1]")
if HTTPS and not ALLOWED_HOSTS:
    raise ImproperlyConfigured("ALLOWED_HOSTS must name the hosts of this site when HTTPS is on.")
CSRF_TRUSTED_ORIGINS = [f"https://{host.lstrip('.')}" for host in ALLOWED_HOSTS] if HTTPS else []

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "django_tables2",
    "django_filters",
    "axes",
    "csp",
    "benchmarks.apps.BenchmarksConfig",
    "annotation.apps.AnnotationConfig",
    "summhay_site.apps.SiteConfig",
]
# Apps that can be taken away; by default all that are here
_extensions = PACKAGE_DIR.parent / "extensions"
EXTENSIONS = env.names("EXTENSIONS", ",".join(each.name for each in iter_modules([str(_extensions)])))
if unknown := [name for name in EXTENSIONS if not (_extensions / name / "apps.py").exists()]:
    raise ImproperlyConfigured(f"EXTENSIONS names what is not here: {', '.join(unknown)}.")
INSTALLED_APPS += [f"extensions.{name}" for name in EXTENSIONS]
_bench = find_spec("bench")  # measurements: in a checkout only, and not just anybody's `bench`
if _bench and _bench.origin == str(BASE_DIR / "bench" / "__init__.py"):
    INSTALLED_APPS.append("bench")

MIDDLEWARE = [
    "summhay_site.serving.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "summhay_site.serving.middleware.PrivateMiddleware",
    "csp.middleware.CSPMiddleware",
    "summhay_site.serving.middleware.HealthMiddleware",  # before anything that asks the database
    "summhay_site.operations.system.MetricsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "summhay_site.serving.middleware.WholeBodyMiddleware",
    "summhay_site.serving.middleware.TurnMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "summhay_site.serving.middleware.PersonMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "annotation.studies.consent.ConsentGate",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "summhay_site.serving.middleware.BusyMiddleware",
]

FILTERS_EMPTY_CHOICE_LABEL = "all"
ROOT_URLCONF = "summhay_site.urls"
WSGI_APPLICATION = "summhay_site.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "summhay_site.serving.middleware.site",
            ],
            # In every template, so that none loads them
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.l10n",
                "django.templatetags.static",
                "django.templatetags.tz",
                "template_partials.templatetags.partials",
                "benchmarks.templatetags.extensions",
                "benchmarks.templatetags.lists",
                "benchmarks.templatetags.sheets",
                "benchmarks.templatetags.stats",
                "annotation.templatetags.work",
            ],
        },
    }
]

DATABASES = {
    "default": env.database("DATABASE_URL", direct="DATABASE_DIRECT_URL", default_path=DATA_DIR / "db.sqlite3")
}
# How long PostgreSQL may take (summhay_site/postgresql), for pages, and for workers and commands
DATABASE_PAGE_LIMITS = Limits(
    statement_s=env.integer("DATABASE_PAGE_TIMEOUT_S", 20, low=1, high=3600),
    lock_s=env.integer("DATABASE_LOCK_TIMEOUT_S", 10, low=1, high=3600),
    idle_s=env.integer("DATABASE_IDLE_TIMEOUT_S", 60, low=1, high=3600),
)
_work_s = env.integer("DATABASE_WORK_TIMEOUT_S", 900, low=10, high=86_400)
DATABASE_WORK_LIMITS = Limits(statement_s=_work_s, lock_s=_work_s, idle_s=_work_s)
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# Accounts
AUTH_USER_MODEL = "summhay_site.User"
ACCOUNT_BACKEND = "summhay_site.authentication.AccountBackend"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", ACCOUNT_BACKEND]
# Log-in through an institution, where OIDC_ISSUER names it (extra `oidc`); names are those of mozilla-django-oidc
OIDC_ISSUER, OIDC_RP_CLIENT_ID, OIDC_RP_CLIENT_SECRET = env.institution()
OIDC_RP_SIGN_ALGO = env.text("OIDC_SIGN_ALGORITHM", "RS256")
OIDC_RP_SCOPES = "openid email profile"
OIDC_USE_PKCE = True
OIDC_TIMEOUT = 10
OIDC_AUTHENTICATION_CALLBACK_URL = "from-institution"
OIDC_NAME = env.text("OIDC_NAME")
OIDC_GROUPS = env.names("OIDC_GROUPS")
if OIDC_ISSUER:
    AUTHENTICATION_BACKENDS.append("summhay_site.accounts.institution.InstitutionBackend")
PASSWORD_HASHERS = [
    "summhay_site.accounts.logins.TakesTurns",
    "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
]
# Threads of a web process that passwords may take, and how many of these hash. Each process may use all
# cores: connections are not spread evenly, and the system shares cores well between hashes and short saves.
PASSWORD_PLACES = max(1, env.web_threads() // 2)
PASSWORDS_AT_ONCE = env.integer("PASSWORDS_AT_ONCE", min(PASSWORD_PLACES, os.cpu_count() or 1), low=1, high=64)
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_RESET_TIMEOUT = 3 * 24 * 3600
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = 14 * 24 * 3600  # a log-in outlasts any session of work
TRUST_PROXY = HTTPS and env.flag("TRUST_PROXY", default=True)
AXES_FAILURE_LIMIT = 8
LOGIN_FAILURES_PER_ADDRESS = env.integer("LOGIN_FAILURES_PER_ADDRESS", 100, low=8, high=1_000_000)
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # the wait that the page names stays true
AXES_CLIENT_IP_CALLABLE = "summhay_site.accounts.logins.client_ip"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_LOCKOUT_CALLABLE = "summhay_site.accounts.logins.locked"
AXES_VERBOSE = False

# Words and time
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch")]  # of annotators' pages, each in its own words
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "summhay_site.formats"

# Static files: hashed names with long-lived caching, except where nothing was collected
STATIC_URL = "static/"
_collected = Path(env.text("STATIC_ROOT") or DATA_DIR / "static").resolve()
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "summhay_site.serving.staticfiles.VegaFinder",  # first: it makes the data folder, for its owner only
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
]
IS_TRIED_OUT = sys.argv[1:2] == ["runserver"] and not (_collected / "staticfiles.json").exists()
"""A fresh checkout is looked at: nothing was collected, so files are served from where they are."""
STATIC_ROOT = None if IS_TRIED_OUT else _collected
UPLOAD_DIR = DATA_DIR / "uploads"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": DATA_DIR}},
    # where files wait until they are imported; machines that share a database share them too
    "uploads": env.uploads("UPLOADS", folder=UPLOAD_DIR, shared="sqlite" not in DATABASES["default"]["ENGINE"]),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or IS_TRIED_OUT
        else "summhay_site.serving.staticfiles.HashedStorage"
    },
}
WHITENOISE_USE_FINDERS = DEBUG or IS_TRIED_OUT
WHITENOISE_MAX_AGE = 0 if DEBUG else 3600

# Uploads
UPLOAD_LIMIT_BYTES = env.integer("UPLOAD_LIMIT_MB", 200, low=1, high=10_000) * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_HANDLERS = [
    "benchmarks.web.pages.LimitedUploadHandler",  # first: what is over the limit goes no further
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# Mail, only where EMAIL_URL is set
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
globals().update(env.email("EMAIL_URL"))
EMAIL_IS_SET = bool(env.text("EMAIL_URL"))
CONTACT_ADDRESS = env.text("CONTACT_ADDRESS")
# The address of the site, for mails that no request asks for
SITE_ADDRESS = env.site_address("SITE_ADDRESS", hosts=ALLOWED_HOSTS, https=HTTPS)

# Work outside the request: the state is in the database, the broker only wakes workers
CELERY_BROKER_URL = env.broker("CELERY_BROKER_URL")
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {}
if CELERY_BROKER_URL.startswith("filesystem"):
    _folders = {"data_folder_in": "queue", "data_folder_out": "queue", "control_folder": "control"}
    for _key, _name in _folders.items():
        CELERY_BROKER_TRANSPORT_OPTIONS[_key] = str(DATA_DIR / "broker" / _name)
elif CELERY_BROKER_URL.startswith(("redis", "sentinel")):
    # a Redis that is frozen or went away without a word counts as down, in web, worker and beat
    CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 5, "socket_connect_timeout": 2, "socket_keepalive": True}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_ALWAYS_EAGER = False
RESULTS_AT_ONCE = env.flag("RESULTS_AT_ONCE", default=False)  # figures in the request, for where no worker runs
CELERY_TASK_PUBLISH_RETRY = False  # `benchmarks.engine.wakeup` tries again, beside the requests
CELERY_BROKER_CONNECTION_TIMEOUT = 2
CELERY_TIMEZONE = "UTC"
# Each queue may have workers of its own (`celery worker -Q summhay-models`), so that nothing short waits behind
# what is long; a worker without -Q takes from all of them.
SHORT, FIGURES, IMPORTS, MODELS = QUEUES = (
    "summhay-short",
    "summhay-figures",
    "summhay-imports",
    "summhay-models",
)
CELERY_TASK_QUEUES = [Queue(name) for name in QUEUES]
CELERY_TASK_DEFAULT_QUEUE = SHORT
CELERY_TASK_ROUTES = {
    "annotation.tasks.check_texts": {"queue": FIGURES},
    "annotation.tasks.place_texts": {"queue": FIGURES},
    "annotation.tasks.pack_drafts": {"queue": FIGURES},
    "annotation.tasks.first_looks": {"queue": FIGURES},
    "benchmarks.tasks.run_offline": {"queue": FIGURES},
    "benchmarks.tasks.compute_result": {"queue": FIGURES},
    "benchmarks.run_import": {"queue": IMPORTS},
    "summhay_site.make_backup": {"queue": IMPORTS},
    "summhay_site.send_webhooks": {"queue": MODELS},  # waits for others as models do
    "benchmarks.tasks.run_judge": {"queue": MODELS},
    "benchmarks.tasks.retrieve": {"queue": MODELS},
}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# The schedule is kept in memory: a schedule file that was cut off by a crash would stop beat for good.
CELERY_BEAT_SCHEDULER = "celery.beat.Scheduler"
_backup_hour = env.integer("BACKUP_HOUR", 2, low=0, high=23)
# A message that nobody took before the next one is due expires: a queue without a worker does not pile up.
CELERY_BEAT_SCHEDULE = {
    name: {"task": task, "schedule": schedule, "options": {"expires": expires}}
    for name, task, schedule, expires in (
        ("settle-sessions", "annotation.tasks.settle_due", 20, 20),
        ("score-snapshots", "annotation.tasks.score_snapshots", 60, 60),
        ("resume-judge-runs", "benchmarks.tasks.resume_runs", 60, 60),
        ("resume-retrievals", "benchmarks.tasks.resume_retrievals", 60, 60),
        ("draw-samples", "benchmarks.tasks.draw_samples", 60, 60),
        ("compute-results", "benchmarks.tasks.compute_results", 60, 60),
        ("check-texts", "annotation.tasks.check_texts", 60, 60),
        ("place-texts", "annotation.tasks.place_texts", 300, 300),
        ("sweep-imports", "benchmarks.sweep_imports", 60, 60),
        ("send-webhooks", "summhay_site.send_webhooks", 60, 60),
        ("leave-no-trace", "summhay_site.leave_no_trace", 60, 60),
        ("make-backup", "summhay_site.make_backup", crontab(hour=str(_backup_hour), minute="11"), 3600),
        ("mail-alarms", "summhay_site.mail_alarms", crontab(minute="*/10"), 600),
        ("purge-logins", "summhay_site.purge_failed_logins", crontab(minute="7"), 3600),
        ("send-reminders", "annotation.tasks.send_reminders", crontab(minute="41"), 3600),
        ("sweep-panes", "annotation.tasks.sweep_panes", crontab(hour="3", minute="27"), 3600),
        ("pack-drafts", "annotation.tasks.pack_drafts", crontab(hour="2", minute="47"), 3600),
        ("let-go", "summhay_site.let_go", crontab(hour="4", minute="7"), 3600),
        ("purge-web-sessions", "summhay_site.purge_web_sessions", crontab(hour="3", minute="17"), 3600),
    )
}

# Judges that speak the OpenAI protocol: keys only from the environment, addresses only from this list
OPENAI_BASE_URLS = env.web_addresses("OPENAI_BASE_URLS") or env.web_addresses(
    "OPENAI_BASE_URL", "https://api.openai.com/v1"
)
OPENAI_MAX_IN_FLIGHT = env.integer("OPENAI_MAX_IN_FLIGHT", 64, low=1, high=1000)  # per address, of all workers
SEARCH_URLS = env.web_addresses("SEARCH_URLS")  # servers that find documents for questions; the key likewise

# Programs that read the site, and addresses that it tells of events (summhay_site/api)
API_PER_MINUTE = env.integer("API_PER_MINUTE", 600, low=1, high=1_000_000)  # of one person, in each web process
WEBHOOKS_TO_PRIVATE = env.flag("WEBHOOKS_TO_PRIVATE")

# What admins see of the site: numbers for Prometheus from these networks, errors at a server of Sentry's protocol
METRICS_NETWORKS = env.networks("METRICS_NETWORKS")
SENTRY_DSN = env.needs_extra("SENTRY_DSN", package="sentry_sdk", extra="sentry")
# Backups that beat asks for each night; nothing without a folder
BACKUP_DIR = Path(backup_dir) if (backup_dir := env.text("BACKUP_DIR")) else None
BACKUP_KEEP = env.integer("BACKUP_KEEP", 14, low=1, high=10_000)

# After how many days personal data goes that figures do not need (summhay_site/privacy.py); 0 keeps it
RETAIN_AUDIT_DETAILS_DAYS = env.integer("RETAIN_AUDIT_DETAILS_DAYS", 0, low=0, high=36_500)
RETAIN_SESSION_EVENTS_DAYS = env.integer("RETAIN_SESSION_EVENTS_DAYS", 0, low=0, high=36_500)
RETAIN_SEARCH_WORDS_DAYS = env.integer("RETAIN_SEARCH_WORDS_DAYS", 0, low=0, high=36_500)
RETAIN_TURNED_AWAY_DAYS = env.integer("RETAIN_TURNED_AWAY_DAYS", 0, low=0, high=36_500)
RETAIN_INACTIVE_DAYS = env.integer("RETAIN_INACTIVE_DAYS", 0, low=0, high=36_500)

# Headers
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(health|ready|metrics)/?$"]  # probes on the machine itself speak plain http
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS and env.flag("HSTS_SUBDOMAINS")
SECURE_HSTS_PRELOAD = HTTPS and env.flag("HSTS_PRELOAD")
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "summhay_site.serving.middleware.csrf_failure"
if TRUST_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", among=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": logs.formatter, "form": env.log_format()}},
    "filters": {"refusals": {"()": "summhay_site.serving.logs.NoTracebackForRefusals"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["refusals"]}},
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"level": "INFO"},  # Django's own handlers of it and of runserver's lines would say secrets
        "django.server": {"level": "INFO", "propagate": True},
        "axes": {"level": "WARNING"},
        "kombu.connection": {"level": "ERROR"},  # the folder broker has no host, and would say so at every start
        "celery": {"level": LOG_LEVEL},
        "httpx2": {"level": "WARNING"},  # else a line for every verdict of a model
    },
}
