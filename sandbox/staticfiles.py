"""Static files: one that lives in a Python package which is no Django application, and how all are sent."""

from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage
from django.http import HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

PLOTLY = "plotly.min.js"
PIECE = 64 * 1024
SECURITY = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin"}


class Storage(CompressedManifestStaticFilesStorage):
    """Names every file after its content, also the modules that another one imports: a browser asks for none twice."""

    keep_intermediate_files = False
    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        (
            "js/*.js",
            (
                (r"(?P<matched>from '(?P<url>\./[^']+)';)", "from '%(url)s';"),
                (r"(?P<matched>import '(?P<url>\./[^']+)';)", "import '%(url)s';"),
            ),
        ),
    )


class PlotlyFinder(BaseFinder):
    """Finds `plotly/plotly.min.js` in the plotly package and nothing else of its package data."""

    def __init__(self) -> None:
        self.storage = FileSystemStorage(location=str(files("plotly") / "package_data"))
        # Django's collectstatic and whitenoise read the URL folder from this attribute.
        self.storage.prefix = "plotly"  # type: ignore[attr-defined]

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """The absolute path of the file, a list of it with `find_all`, or an empty list."""
        if Path(path) != Path("plotly", PLOTLY):
            return []
        found = self.storage.path(PLOTLY)
        return [found] if find_all else found

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        """The one file, relative to its storage, as collectstatic wants it."""
        yield PLOTLY, self.storage


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
