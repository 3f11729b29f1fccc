"""The Django settings, with safe defaults. Deployments change them with environment variables."""

import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from sandbox.server import startup

BASE_DIR = Path(__file__).resolve().parent.parent
# Everything the running site writes: database, secret key, collected static files.
VAR_DIR = Path(os.environ.get("VAR_DIR") or BASE_DIR / "var").absolute()


def _list(name: str, default: str = "") -> list[str]:
    return [item.strip() for item in os.environ.get(name, default).split(",") if item.strip()]


def _number(name: str, default: float, what: str) -> float:
    """Return a variable as a number above 0, or the default. ``what``: its unit, for the error.

    Raises ``ImproperlyConfigured``.
    """
    text = os.environ.get(name) or str(default)
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise ImproperlyConfigured(f"{name} must be a number above 0, {what}, not '{text}'.")
    return number


def _integer(name: str, default: int, least: int = 0) -> int:
    text = os.environ.get(name) or str(default)
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise ImproperlyConfigured(f"{name} must be a whole number of {least} or more, not '{text}'.")
    return number


def _rate(name: str, default: float) -> float:
    return _number(name, default, "per second")


def _flag(name: str, default: bool = False) -> bool:
    text = os.environ.get(name, "")
    return text.lower() in {"1", "true", "yes", "on"} if text else default


def _choice(name: str, choices: tuple[str, ...]) -> str:
    """Return a variable, or the first of its choices. Raises ``ImproperlyConfigured``."""
    text = os.environ.get(name) or choices[0]
    if text not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not '{text}'.")
    return text


def _networks(name: str, default: str) -> list[IPv4Network | IPv6Network]:
    """Return a variable of addresses and networks, separated by commas. Raises ``ImproperlyConfigured``."""
    try:
        return [ip_network(item) for item in _list(name, default)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must list addresses or networks, such as 10.0.0.0/8: {error}.") from error


DEBUG = _flag("DEBUG")
SECRET_KEY = os.environ.get("SECRET_KEY", "").strip() or startup.secret_key(VAR_DIR / "secret_key")
ALLOWED_HOSTS = _list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = _list("CSRF_TRUSTED_ORIGINS")
# Sites that may show this one in an iframe: the sources of CSP's frame-ancestors.
FRAME_ANCESTORS = os.environ.get("FRAME_ANCESTORS", "'self'")

# No sessions, users or messages: the right to see or edit a sandbox is in its URL, never in a cookie.
INSTALLED_APPS = [
    "django.contrib.staticfiles",
    "django_htmx",
    "heroicons",
    "sandbox.storage",
    "sandbox.server",
    "sandbox.workshop",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # After WhiteNoise: static files are compressed already, and any cache may store them.
    "django.middleware.gzip.GZipMiddleware",
    "sandbox.web.middleware.check_host",
    "sandbox.web.middleware.limit_rate",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "sandbox.web.errors.ErrorMiddleware",
]
ROOT_URLCONF = "sandbox.urls"
CSRF_FAILURE_VIEW = "sandbox.web.views.refused.unsafe_method"
ASGI_APPLICATION = "sandbox.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {"environment": "sandbox.web.jinja2.environment"},
    }
]

if not os.environ.get("DATABASE_URL"):
    startup.create_folder(VAR_DIR)
DATABASES = {"default": dj_database_url.config(default=f"sqlite:///{VAR_DIR / 'db.sqlite3'}", conn_max_age=None)}
# PostgreSQL connections of this web process, shared among its threads; see sandbox/runtime/connections.py.
DATABASE_CONNECTIONS = _integer("DATABASE_CONNECTIONS", 30, least=4)
SQLITE_OPTIONS = {
    # WAL lets readers work beside the one writer. With FULL an answered command survives a power cut.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL",
    # Take the write lock at the start: upgrading a read lock fails at once if another transaction has written.
    "transaction_mode": "IMMEDIATE",
    # Seconds to wait for the write lock (SQLite's busy_timeout).
    "timeout": 20,
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
    if DATABASES["default"]["NAME"] != ":memory:":
        startup.make_private(Path(DATABASES["default"]["NAME"]))
else:
    # Seconds: how long a request waits for a connection, and how long the pool tries to open one that broke.
    _pool = {"min_size": 2, "max_size": DATABASE_CONNECTIONS, "timeout": 5, "reconnect_timeout": 5}
    # Seconds; tcp_user_timeout in milliseconds. By the defaults of the systems, a server that vanishes without a word
    # would hold threads for a quarter of an hour, and a web process that vanishes would hold locks for two hours.
    # Options of DATABASE_URL come before these.
    _line = {
        "connect_timeout": 5,
        "keepalives_idle": 20,
        "keepalives_interval": 5,
        "keepalives_count": 2,
        "tcp_user_timeout": 30_000,
        "options": "-c idle_in_transaction_session_timeout=60s"
        " -c tcp_keepalives_idle=20 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=2",
    }
    _options = _line | DATABASES["default"].get("OPTIONS", {}) | {"pool": _pool}
    DATABASES["default"] |= {"CONN_MAX_AGE": 0, "OPTIONS": _options}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = os.environ.get("REDIS_URL")
CHANNEL_LAYERS = {
    "default": {"BACKEND": "sandbox.runtime.redis_layer.RedisChannelLayer", "CONFIG": {"url": REDIS_URL}}
    if REDIS_URL
    else {"BACKEND": "sandbox.runtime.layers.LocalChannelLayer"}
}

STATIC_URL = "static/"
STATIC_ROOT = os.environ.get("STATIC_ROOT") or VAR_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "sandbox.server.staticfiles.PackageFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "sandbox.server.staticfiles.Storage"},
}

# Bytes of a request body without its files. A longer body raises RequestDataTooBig where it is first read.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
# Uploads go to unnamed temporary files, which disappear when the request ends.
FILE_UPLOAD_HANDLERS = ["sandbox.web.uploads.NamelessUploadHandler"]
# Bytes of an imported file. IMPORT_SLACK allows for what the form adds.
IMPORT_BYTES = _integer("SERVER_IMPORT_BYTES", 50 * 1024 * 1024, least=1)
IMPORT_SLACK = 64 * 1024
# Name → (rate per second, burst). One address may be a class of 200 people who open a page, step or reconnect at the
# same time. So limits against a single greedy visitor count per sandbox, link or socket instead.
RATE_LIMITS: dict[str, tuple[float, int]] = {
    # Per address: all requests but those for static files; new sandboxes; new websockets.
    "address": (_rate("ADDRESS_RATE", 600), 3000),
    "create": (_rate("CREATE_RATE", 0.5), 250),
    "socket": (_rate("SOCKET_RATE", 20), 600),
    # Per address: workshop codes tried, of 700 million.
    "join": (_rate("JOIN_RATE", 1), 120),
    # Per name in a workshop: codes tried, of 10,000.
    "code": (_rate("CODE_RATE", 1 / 30), 5),
    # Per sandbox: commands. Per link (edit or view): pages and panels.
    "command": (_rate("COMMAND_RATE", 30), 60),
    "look": (_rate("LOOK_RATE", 40), 400),
    # Per workshop page: its actions.
    "room": (_rate("ROOM_RATE", 5), 60),
    # Per participant: questions to the trainer.
    "inquiry": (1 / 10, 3),
    # Per websocket: messages from the browser.
    "message": (_rate("MESSAGE_RATE", 20), 100),
}
# Proxies in front of the site whose X-Forwarded-For counts as the client's address, and whose X-Forwarded-Proto as the
# scheme of links; 0 = none, both headers are ignored.
TRUSTED_PROXIES = _integer("TRUSTED_PROXIES", 0)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
# Programs that may read /metrics, by the address of their connection. Never through a proxy: see
# sandbox/server/probes.py.
METRICS_FROM = _networks("METRICS_FROM", "127.0.0.0/8,::1")
# Seconds for which browsers come only by https, once the site has TLS. 0 = the site does not insist on https.
SECURE_HSTS_SECONDS = _integer("HSTS_SECONDS", 0)
SECURE_SSL_REDIRECT = CSRF_COOKIE_SECURE = SECURE_HSTS_SECONDS > 0
SILENCED_SYSTEM_CHECKS = [
    "security.W002",  # frame-ancestors says who may embed pages, for each page.
    "security.W005",  # Other sites of the domain are not ours to promise for.
    "security.W021",  # Nor is the list of browsers' vendors.
]
# Limits of a sandbox that override the defaults in sandbox/limits/quotas.py, by field name.
QUOTAS: dict[str, int] = {}
# Web processes on this machine, which share its cores and memory.
WEB_PROCESSES = _integer("WEB_PROCESSES", 1, least=1)
_cores = len(os.sched_getaffinity(0))
# Worker processes of the quick lane. One more process is the slow lane, and at most ENGINE_LONG more have one sandbox
# each, in which a job takes long. 0 = no processes: the web process does all jobs itself. Two workers keep one web
# process busy.
ENGINE_PROCESSES = _integer("ENGINE_PROCESSES", max(1, min(2, _cores // WEB_PROCESSES)))
ENGINE_LONG = _integer("ENGINE_LONG", max(1, 3 // WEB_PROCESSES))
# Niceness of the slow lane: beside a process that is always busy, 10 gets a tenth of the CPU. (Rejected: idle CPU
# time only. On a machine that stays busy there is none.)
ENGINE_NICE = 10
# Added niceness of a process that is dedicated to one sandbox: it gets a thirtieth.
ENGINE_NICER = 5
# Bytes that each worker may use. A third of it holds simulations, which can always be replayed. The default leaves a
# share of the machine's memory to the web process.
_memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // WEB_PROCESSES
_share = _memory // (ENGINE_PROCESSES + ENGINE_LONG + 2)
_default_megabytes = max(256 // WEB_PROCESSES, 64, min(_share // 2**20, 1536))
ENGINE_MEMORY = _integer("ENGINE_MEMORY_MB", _default_megabytes, least=64) * 2**20
FRAGMENT_CACHE_CHARACTERS = 32_000_000
# Seconds of real time after which a command is stopped. With more, answers may take longer, too.
USUAL_COMMAND_SECONDS = 120
COMMAND_SECONDS = _number("COMMAND_SECONDS", USUAL_COMMAND_SECONDS, "in seconds")
# Bytes in the database at which the site refuses to store more.
STORE_BYTES = _integer("STORE_MB", 20_000) * 1_000_000
# Days after which a sandbox that nobody has changed is deleted. The site checks once a day; 0 = never. See
# sandbox/server/pruning.py.
PRUNE_DAYS = _integer("PRUNE_DAYS", 90)
# Days after which an unused workshop is deleted, with the names and answers of its participants.
ROOM_DAYS = _integer("ROOM_DAYS", 14, least=1)
# The address of a page is the key to it, so no other site may see it in the Referer header.
SECURE_REFERRER_POLICY = "no-referrer"
CSRF_COOKIE_HTTPONLY = True

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False

LOG_FORMAT = _choice("LOG_FORMAT", ("text", "json"))
# One line for each answered request: for programs that collect logs, or if wanted.
LOG_REQUESTS = _flag("LOG_REQUESTS", LOG_FORMAT == "json")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {
            "()": "sandbox.runtime.logs.WithoutTokens",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "sandbox.runtime.logs.AsJson"},
    },
    "filters": {"calm": {"()": "sandbox.runtime.logs.Calm"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["calm"]},
        "count": {"()": "sandbox.runtime.measures.CountErrors", "filters": ["calm"]},
    },
    "root": {"handlers": ["stderr", "count"], "level": "INFO"},
    "loggers": {
        # Its INFO lines are about Twisted's options, not about the site.
        "daphne": {"level": "WARNING"},
        # Django's own handlers, for DEBUG and for e-mails, would not hide tokens.
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
    },
}
