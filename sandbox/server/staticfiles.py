"""Static files: those that lie in Python packages, how all are named, and how they are sent."""

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
    # The editor loads what it needs for a key that is pressed, such as its search box.
    "django_ace/ace": ("django_ace", "static/django_ace/ace", ("ace.js", "mode-yaml.js", "ext-*.js")),
}
"""Folder of URLs → a package, the folder in it, and which of its files are served."""
PIECE = 64 * 1024
SECURITY = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}


class Storage(CompressedManifestStaticFilesStorage):
    """Names every file after its content, also the modules that another one imports: a browser asks for none twice."""

    keep_intermediate_files = False
    # A pass names at least one more level of the modules that import each other, and the last pass changes nothing.
    max_post_process_passes = 20
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", ((r"(?P<matched>(?P<verb>from|import) '(?P<url>\./[^']+)';)", "%(verb)s '%(url)s';"),)),
    )


class PackageFinder(BaseFinder):
    """Finds those files of Python packages that pages ask for, and none of the hundreds beside them."""

    def __init__(self) -> None:
        self.storages: dict[str, FileSystemStorage] = {}
        for prefix, (package, folder, _) in PACKAGES.items():
            storage = FileSystemStorage(location=str(files(package) / folder))
            # Django's collectstatic and whitenoise read the URL folder from this attribute.
            storage.prefix = prefix  # type: ignore[attr-defined]
            self.storages[prefix] = storage

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """The absolute path of the file, a list of it with `find_all`, or an empty list."""
        prefix, _, name = Path(path).as_posix().rpartition("/")
        if prefix not in PACKAGES or not _wanted(prefix, name) or not self.storages[prefix].exists(name):
            return []
        found = self.storages[prefix].path(name)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        """The files, relative to their storages, as collectstatic wants them."""
        for prefix, storage in self.storages.items():
            yield from ((name, storage) for name in sorted(storage.listdir("")[1]) if _wanted(prefix, name))


def _wanted(prefix: str, name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in PACKAGES[prefix][2])


class StaticFiles:
    """Answers for collected files in front of ``application``, a piece at a time as the client reads.

    Through Django a slow client would make the server hold a whole file, of up to 5 MB, for as long as it takes.
    """

    def __init__(self, application: Any) -> None:
        self.application = application
        self.files = WhiteNoiseMiddleware(lambda request: HttpResponse()).files

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        found = self.files.get(scope["path"]) if reads else None
        if found is None:
            await self.application(scope, receive, send)
            return
        response = found.get_response(scope["method"], _as_wsgi(scope["headers"]))
        lines = [(name.encode(), value.encode()) for name, value in (*response.headers, *SECURITY.items())]
        await send({"type": "http.response.start", "status": response.status.value, "headers": lines})
        if response.file is not None:
            with response.file as file:
                while piece := file.read(PIECE):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})


def _as_wsgi(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    return {f"HTTP_{name.decode().upper().replace('-', '_')}": value.decode("latin-1") for name, value in headers}
