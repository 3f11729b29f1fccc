"""Static files that live in a Python package which is no Django application."""

from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

PLOTLY = "plotly.min.js"


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
