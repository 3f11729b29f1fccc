"""Static files: find those in Python packages, name them by content, and send them."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage
from django.http import HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

PACKAGES = {
    "plotly": ("plotly", "package_data", ("plotly.min.js",)),
    "dagre": ("xstatic.pkg.dagre", "data", ("dagre.min.js",)),
    # The editor loads its extensions on demand, such as the search box.
    "django_ace/ace": ("django_ace", "static/django_ace/ace", ("ace.js", "mode-yaml.js", "ext-*.js")),
}
"""URL folder → package, folder in the package, and patterns of the files to serve."""
PIECE = 64 * 1024
SECURITY = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}


class Storage(CompressedManifestStaticFilesStorage):
    """Names every file after its content, imported JavaScript modules too, so that browsers can cache all of them."""

    keep_intermediate_files = False
    # A pass names at least one more level of the modules that import each other, and the last pass changes nothing.
    max_post_process_passes = 20
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", ((r"(?P<matched>(?P<verb>from|import) '(?P<url>\./[^']+)';)", "%(verb)s '%(url)s';"),)),
    )


class PackageFinder(BaseFinder):
    """Finds the files in ``PACKAGES``, and none of the hundreds of others in those packages."""

    def __init__(self) -> None:
        self.storages: dict[str, FileSystemStorage] = {}
        for prefix, (package, folder, _) in PACKAGES.items():
            storage = FileSystemStorage(location=str(files(package) / folder))
            # Django's collectstatic and whitenoise read the URL folder from this attribute.
            storage.prefix = prefix  # type: ignore[attr-defined]
            self.storages[prefix] = storage

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """Return the absolute path of a file, in a list with ``find_all``. Return an empty list if there is none."""
        prefix, _, name = Path(path).as_posix().rpartition("/")
        if prefix not in PACKAGES or not _is_served(prefix, name) or not self.storages[prefix].exists(name):
            return []
        file = self.storages[prefix].path(name)
        return [file] if find_all else file

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        """Yield the files, relative to their storages, for collectstatic."""
        for prefix, storage in self.storages.items():
            yield from ((name, storage) for name in sorted(storage.listdir("")[1]) if _is_served(prefix, name))


def _is_served(prefix: str, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in PACKAGES[prefix][2])


class StaticFiles:
    """Sends collected static files before ``application`` is asked, piece by piece as the client reads.

    Through Django, a slow client would keep a whole file of up to 5 MB in memory.
    """

    def __init__(self, application: Any) -> None:
        self.application = application
        self.files = WhiteNoiseMiddleware(lambda request: HttpResponse()).files

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        static_file = self.files.get(scope["path"]) if reads else None
        if static_file is None:
            await self.application(scope, receive, send)
            return
        response = static_file.get_response(scope["method"], _as_wsgi(scope["headers"]))
        lines = [(name.encode(), value.encode()) for name, value in (*response.headers, *SECURITY.items())]
        await send({"type": "http.response.start", "status": response.status.value, "headers": lines})
        if response.file is not None:
            with response.file as file:
                while piece := file.read(PIECE):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})


def _as_wsgi(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {f"HTTP_{name.decode().upper().replace('-', '_')}": value.decode("latin-1") for name, value in headers}
