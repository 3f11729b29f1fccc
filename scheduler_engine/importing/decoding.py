"""Decode a file's bytes: UTF-8, or UTF-16 and UTF-32 as Windows PowerShell and editors write them."""

from __future__ import annotations

import codecs

from scheduler_engine.api.parse_events import NotReadable
from scheduler_engine.words import say

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, in an order in which none hides another one."""
ZEROS = {
    b"\0\1\1\1": "utf-32-le",
    b"\1\1\1\0": "utf-32-be",
    b"\0\1\0\1": "utf-16-le",
    b"\1\0\1\0": "utf-16-be",
}
"""Pattern of zeros (1) in the first four bytes → the encoding of a text that begins with ASCII and has no mark."""


def decoded(content: bytes) -> str:
    """Return the text, with ``\\n`` as line ends. Raises NotReadable."""
    mark, encoding = next((pair for pair in MARKS if content.startswith(pair[0])), (b"", ""))
    encoding = encoding or ZEROS.get(bytes(byte == 0 for byte in content[:4]), "utf-8")
    try:
        text = content.removeprefix(mark).decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start + len(mark)) + 1
        known = "UTF-8" if encoding == "utf-8" else encoding.upper().rpartition("-")[0]
        raise NotReadable(say("import-errors.wrong-encoding", encoding=known), line, 0) from error
    return text.replace("\r\n", "\n") if "\r\n" in text else text
