"""Settings of the site, with safe defaults. Deployments change them by the environment variables read here."""

import os
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
    """Above 0; ``what`` it says."""
    text = os.environ.get(name) or str(default)
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise ImproperlyConfigured(f"{name} must be a number above 0, {what}, not '{text}'.")
    return number


def _whole(name: str, default: int, least: int = 0) -> int:
    text = os.environ.get(name) or str(default)
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise ImproperlyConfigured(f"{name} must be a whole number of {least} or more, not '{text}'.")
    return number


def _rate(name: str, default: float) -> float:
    return _number(name, default, "how often in a second")


DEBUG = os.environ.get("DEBUG", "").lower() in {"1", "true", "yes", "on"}
SECRET_KEY = os.environ.get("SECRET_KEY", "").strip() or startup.secret_key(VAR_DIR / "secret_key")
ALLOWED_HOSTS = _list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = _list("CSRF_TRUSTED_ORIGINS")
# Who may show the site in an iframe, in the words of Content-Security-Policy.
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
    # After static files, which are compressed once, and which anybody may keep.
    "django.middleware.gzip.GZipMiddleware",
    "sandbox.web.middleware.own_host",
    "sandbox.web.middleware.counted",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "sandbox.web.errors.InWords",
]
ROOT_URLCONF = "sandbox.urls"
ASGI_APPLICATION = "sandbox.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {"environment": "sandbox.web.jinja2.environment"},
    }
]

# The threads that serve keep their connections: opening one for each request costs more than most requests.
if not os.environ.get("DATABASE_URL"):
    startup.folder(VAR_DIR)
DATABASES = {"default": dj_database_url.config(default=f"sqlite:///{VAR_DIR / 'db.sqlite3'}", conn_max_age=None)}
SQLITE_OPTIONS = {
    # WAL lets readers work beside the one writer; FULL keeps an answered command through a power cut too.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL",
    # A transaction takes the write lock at its start: upgrading a read lock fails at once when another has written.
    "transaction_mode": "IMMEDIATE",
    # Seconds to wait for the write lock (SQLite's busy_timeout).
    "timeout": 20,
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
    if DATABASES["default"]["NAME"] != ":memory:":
        startup.private(Path(DATABASES["default"]["NAME"]))
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = os.environ.get("REDIS_URL")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        # redis-py's 100 connections are too few when many browsers leave at once: their groups would keep dead members.
        # Its 5 seconds of silence are what Channels waits for a message: idle browsers would lose their line (django/
        # channels_redis issue 422).
        "CONFIG": {"hosts": [{"address": REDIS_URL, "max_connections": 4096, "socket_timeout": 30}]},
    }
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

# Bytes of a request body without files; a longer one raises RequestDataTooBig where the body is first read.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
# Uploads go to files without names, which end with their requests.
FILE_UPLOAD_HANDLERS = ["sandbox.web.uploads.Nameless"]
# Bytes of a file that is imported; what a form adds to it is allowed on top.
IMPORT_BYTES = _whole("SERVER_IMPORT_BYTES", 50 * 1024 * 1024, least=1)
IMPORT_SLACK = 64 * 1024
# Name → (a second, burst). An address may be a class of 200, all of whom open a page, step, and are cut off at once;
# so what keeps one of them from taking everything is counted for a sandbox, a link or a socket.
RATE_LIMITS: dict[str, tuple[float, int]] = {
    # Of an address: everything but static files; new sandboxes; sockets that are opened.
    "address": (_rate("ADDRESS_RATE", 600), 3000),
    "create": (_rate("CREATE_RATE", 0.5), 250),
    "socket": (_rate("SOCKET_RATE", 20), 600),
    # Codes of workshops that an address tries: there are 700 million.
    "join": (_rate("JOIN_RATE", 1), 120),
    # Codes that are tried for one name in a workshop: there are 10,000.
    "code": (_rate("CODE_RATE", 1 / 30), 5),
    # Of a sandbox, whoever asks: commands; pages and panels, for each of its two links.
    "command": (_rate("COMMAND_RATE", 30), 60),
    "look": (_rate("LOOK_RATE", 40), 400),
    # Of one page of a workshop: what is done there.
    "room": (_rate("ROOM_RATE", 5), 60),
    # Of one socket: messages from the browser.
    "message": (_rate("MESSAGE_RATE", 20), 100),
}
# Proxies in front of the site whose X-Forwarded-For counts as the client's address, and whose X-Forwarded-Proto as the
# scheme of links; 0 = none, both headers are ignored.
TRUSTED_PROXIES = _whole("TRUSTED_PROXIES", 0)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
# Limits of one sandbox that differ from the defaults in sandbox/limits/quotas.py, by field name.
QUOTAS: dict[str, int] = {}
# Processes that execute and draw, beside the one that serves: so many for all sandboxes that are quick, one for all
# others, and so many more at most, one for each sandbox in which something takes long. 0 = none, all in the process
# that serves.
ENGINE_PROCESSES = _whole("ENGINE_PROCESSES", 2)
ENGINE_LONG = _whole("ENGINE_LONG", 3)
# How far the slow lane stands back: beside a process that is busy all the time, 10 gets a tenth. (Rejected: only the
# time that nobody else wants. On a machine that is busy for long, that is none at all.)
ENGINE_NICE = 10
# How much further one stands back that has parted: it gets a thirtieth.
ENGINE_NICER = 5
# Bytes that each of them may use; a third of it holds simulations ready, which are never the only copy. By default they
# leave a share of the machine's memory to the process that serves.
_share = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (ENGINE_PROCESSES + ENGINE_LONG + 2)
_default_megabytes = max(256, min(_share // 2**20, 1536))
ENGINE_MEMORY = _whole("ENGINE_MEMORY_MB", _default_megabytes, least=64) * 2**20
FRAGMENT_CACHE_CHARACTERS = 32_000_000
# Seconds of real time after which a command is stopped.
COMMAND_SECONDS = _number("COMMAND_SECONDS", 120, "in seconds")
# Bytes of all that is stored, from which on the site takes nothing more.
STORE_BYTES = _whole("STORE_MB", 20_000) * 1_000_000
# Days after which a sandbox that nobody has used is deleted, once a day; 0 = never. See sandbox/server/pruning.py.
PRUNE_DAYS = _whole("PRUNE_DAYS", 90)
# Days after which a workshop that nobody has used is deleted, with the names and answers of its participants.
ROOM_DAYS = _whole("ROOM_DAYS", 14, least=1)
# The addresses of pages are the keys to them. Nothing here asks where somebody comes from.
SECURE_REFERRER_POLICY = "no-referrer"
CSRF_COOKIE_HTTPONLY = True

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "sandbox.runtime.logs.WithoutTokens",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        }
    },
    "filters": {"calm": {"()": "sandbox.runtime.logs.Calm"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["calm"]}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Its INFO lines tell of Twisted's options, not of the site.
        "daphne": {"level": "WARNING"},
        # Django's own handlers, for DEBUG and for e-mails, know nothing of tokens.
        "django": {"handlers": [], "level": "INFO"},
        "django.server": {"handlers": [], "level": "INFO", "propagate": True},
    },
}
