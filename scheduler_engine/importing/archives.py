"""Unpack zips of ``kubectl cluster-info dump`` folders and gzip files in memory, within limits.

A name from an archive is only ever shown and compared: nothing is written under it.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator

from scheduler_engine.errors import Rejected
from scheduler_engine.importing.reading import MOST_BYTES
from scheduler_engine.words import say

ZIP, GZIP = b"PK", b"\x1f\x8b"
MOST_FILES = 20_000
"""The most entries of an archive: a dump has a few for each namespace, and one of logs for each pod."""
READ = (".json", ".yaml", ".yml")
NESTED = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz", ".7z")
LONGEST_NAME = 200
"""The most characters of a name in a message."""


def unpacked(content: bytes, name: str = "", most: int = MOST_BYTES) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of every file to read: the JSON and YAML in an archive, in its order, else the file itself.

    Raises Rejected for an archive that is broken, too large once unpacked, or has names outside it.
    """
    if content[:2] == ZIP:
        yield from _zip(content, most)
    elif content[:2] == GZIP:
        yield name.removesuffix(".gz"), _gunzipped(content, name, most)
    else:
        if len(content) > most:
            raise _too_large(most)
        yield name, content


def _zip(content: bytes, most: int) -> Iterator[tuple[str, bytes]]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise Rejected(say("import-errors.broken-archive", problem=error)) from error
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise Rejected(say("import-errors.too-many-files", files=len(entries), most=MOST_FILES))
    names: dict[str, None] = {}
    for entry in entries:
        problem = _wrong_name(entry.filename, names)
        if problem:
            raise Rejected(say("import-errors.wrong-file", file=repr(entry.filename[:LONGEST_NAME]), problem=problem))
        names[entry.filename] = None
    left = most
    for entry in entries:
        if entry.filename.lower().endswith(READ):
            data = _read(archive, entry, left, most)
            left -= len(data)
            yield entry.filename, data


def _wrong_name(name: str, names: dict[str, None]) -> str:
    """Return why an archive with a file of this name is refused; "" if the name is fine."""
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or name[1:2] == ":":
        return say("import-errors.absolute")
    if ".." in parts:
        return say("import-errors.outside")
    if name.lower().endswith(NESTED):
        return say("import-errors.nested")
    return say("import-errors.same-name") if name in names else ""


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int, most: int) -> bytes:
    if entry.file_size > left:
        raise _too_large(most)
    try:
        with archive.open(entry) as file:
            data = file.read(left + 1)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise _broken(entry.filename[:LONGEST_NAME], error) from error
    if len(data) > left:
        raise _too_large(most)
    return data


def _gunzipped(content: bytes, name: str, most: int) -> bytes:
    decompressor = zlib.decompressobj(wbits=31)
    try:
        data = decompressor.decompress(content, most + 1)
    except zlib.error as error:
        raise _broken(name, error) from error
    if len(data) > most:
        raise _too_large(most)
    if not decompressor.eof:
        raise _broken(name, say("import-errors.ends-too-early"))
    return data


def _broken(name: str, problem: object) -> Rejected:
    return Rejected(say("import-errors.cannot-unpack", file=name or say("import-errors.the-file"), problem=problem))


def _too_large(most: int) -> Rejected:
    return Rejected(say("import-errors.too-large", most=most // 1024 // 1024))
