"""Likely values of fields, paths and headers of requests, and odd headers.

Names in braces stand for what exists only once a server runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sandbox.panels import PANELS
from tests.hostile import oddities

LIKELY: dict[str, Sequence[str]] = {
    "kind": ("Pod", "Node", "Deployment", "PriorityClass", "ConfigMap", "winner", "lane", "passes", "victims"),
    "object_kind": ("Pod", "Node", "Deployment"),
    "key": ("default/web-0", "n1", "default/app", "dedicated", "1", "2"),
    "after": ("0", "1", "2"),
    "name": ("n1", "web-0", "app", "Ada"),
    "node": ("n1", "n2", "gone"),
    "pod": ("default/web-0", "default/web-1", "web-0"),
    "left": ("/s/{edit}/", "node-selector"),
    "right": ("/s/{watch}/", "node-selector"),
    "who": ("{person}", "{person}", "1", "Ada"),
    "to": ("{person}",),
    "n": ("0", "1", "2", "3", "99"),
    "number": ("0", "1", "2"),
    "at": ("0.0", "1.0", "1.9", "2.5", "4.1", "9.9"),
    "tab": ("filter", "scores", "preemption", "configuration", "timeline"),
    "open": ("filter", "status cluster inspector timeline queues"),
    "scenario": ("node-selector", "lesson:three-queues", "own:1", "node-name-pin"),
    "lesson": ("three-queues", "backoff", "practice-spread-2-7"),
    "topic": ("filters", "queue"),
    "level": ("1", "3"),
    "seconds": ("1", "0.5", "60"),
    "minutes": ("0", "5", "600"),
    "verb": ("stage", "pod", "settle", "second"),
    "replicas": ("0", "1", "3"),
    "count": ("1", "2", "3"),
    "commands": (
        '[{"kind": "cordon", "node": "n1", "on": true}]',
        '[{"kind": "cordon", "node": "n1", "on": true}, {"kind": "cordon", "node": "gone", "on": true}]',
        '[{"kind": "advance", "seconds": 1, "play": true}, {"kind": "stage"}, {"kind": "stage"}]',
    ),
    "part": ("0", "1", "2"),
    "fact": ("placement", "lane", "winner", "failure"),
    "attempt": ("1", "2"),
    "cycle": ("1", "2", "99"),
    "draws": ("100", "1000"),
    "seed": ("1", "42"),
    "seeds": ("10", "30"),
    "branch": ("1", "2"),
    "zone": ("a", "b", "gone"),
    "choices": ("*a\nb", "a\nb\nc"),
    "code": ("{code}",),
    "anew": ("1",),
}
PLACES: dict[str, Sequence[str]] = {
    "panel": tuple(PANELS),
    "panel_id": tuple(PANELS),
    "form": ("scenario", "manifests", "snapshot", "trace"),
    "kind": ("pod", "node", "Pod", "Node", "Deployment", "deployment", "daemonset", "configmap", "priorityclass"),
    "figure": ("a-pod-that-grows", "a-pod-that-grows-1-0", "topology-spread-3-1-1", "1", "3-0-1"),
    "slug": ("node-selector", "three-zones-one-gpu-pool", "three-queues", "backoff"),
    "verb": (
        "stage",
        "pod",
        "settle",
        "run",
        "advance",
        "back",
        "forward",
        "goto",
        "stop",
        "admission",
        "step",
        "turn",
    ),
    "code": ("{code}",),
}
"""Parameter of a path → its values."""
LONGEST_MESSAGE = 8192
"""Most characters that a workbench reads at once."""
DOCUMENTS = ("manifests", "manifest", "configuration", "text", "file", "yaml", "changes", "choices", "policy", "given")
"""Fields that hold a whole text."""
HEADERS: tuple[Mapping[str, str], ...] = (
    {"If-None-Match": "*"},
    {"If-None-Match": 'W/"x", "'},
    {"If-Modified-Since": "Thu, 99 Foo 2026 99:99:99 GMT"},
    {"If-Match": '"x"'},
    {"If-Range": "x", "Range": "bytes=-1,9-1,0-99999999999999999999"},
    {"Range": "bytes=0-"},
    {"Accept-Encoding": "zstd;q=x, br, *;q=-1"},
    {"Accept-Encoding": "gzip"},
    {"Accept": "text/html"},
    {"Accept": "application/json;q=1e999, */*;q=٣"},
    {"Accept-Language": "x" * 3000},
    {"Cookie": "=" * 2000},
    {"Cookie": 'csrftoken="\\777; a=b; sessionid=\x01é; ;;=;a'},
    {"Cookie": "a=b; " * 300},
    {"HX-Request": "true", "HX-Current-URL": "http://[::"},
    {"HX-Request": "true", "HX-Target": f"<{oddities.MARK}>", "HX-Current-URL-URI-AutoEncoded": "true"},
    {"HX-Request": "true", "HX-Prompt": "%ff%00", "HX-Prompt-URI-AutoEncoded": "true"},
    {"Sec-Fetch-Mode": "navigate"},
    {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    {"Referer": f"javascript:{oddities.MARK}"},
    {"Origin": "null"},
    {"Origin": "http://[::"},
    {"Origin": "http://elsewhere.example"},
    {"Host": "elsewhere.example"},
    {"Host": "127.0.0.1:99999"},
    {"Host": f"<{oddities.MARK}>"},
    {"Host": ""},
    {"X-Forwarded-For": "1.2.3.4, ::1, <script>, " + "9" * 500},
    {"X-Forwarded-Host": "elsewhere.example", "X-Forwarded-Proto": "gopher"},
    {"X-HTTP-Method-Override": "DELETE"},
    {"Daphne-Root-Path": "/x"},
    {"Content-Encoding": "gzip"},
    {"Expect": "100-continue"},
    {"User-Agent": ""},
    {"X-Odd": "é\x7f\t\x01"},
)
QUERIES = ("?", "?" + "a=b&" * 300, "?%ff=%", "?=&;&", "#")
PART_HEADERS = ("", "", "", "Content-Type: text/x; charset=hex\r\n", "Content-Transfer-Encoding: base64\r\n")
TYPES = (
    "",
    "text/plain",
    "application/xml",
    "application/x-www-form-urlencoded; charset=utf-16",
    "application/x-www-form-urlencoded; charset=hex",
    "application/json; charset=latin-1",
    "multipart/form-data",
    "multipart/form-data; boundary=" + "x" * 300,
    "multipart/form-data; boundary*=utf-7''B",
    "multipart/form-data; boundary=é",
    "application/yaml",
    ";;;=",
    "application/json; charset=" + "x" * 300,
)
