"""Advice about a file that is not a dump: it has kubectl's own messages, or its end is missing.

Message texts: upstream ``kubectl/pkg/cmd/util`` and ``apimachinery/pkg/api/errors``.
"""

from __future__ import annotations

import re

from scheduler_engine.api.parse_events import NotReadable
from scheduler_engine.words import say

GET = "kubectl get nodes,pods,pvc,pv,sc,csinodes,pdb,priorityclasses,deploy,rs,sts,ds,svc,ns -A -o yaml"
"""The command that writes everything that affects placement."""
LONGEST = 200
"""The most characters of a line in a message."""
KUBECTL = re.compile(
    "error: |Error from server|The connection to the server |Unable to connect to the server|No resources found|"
    r"Error in configuration|Warning: |[EWIF]\d{4} \d\d:\d\d:\d\d|.*: (command )?not found$|.* is not recognized as "
)
"""Prefixes of lines that kubectl, or a shell in its place, writes for people."""
PREFIX = re.compile(r"kubectl(\.exe)? : ")
"""PowerShell's prefix before them."""
WHAT_TO_DO = (
    (r"\(Forbidden\)", "import-advice.forbidden"),
    (r"Unauthorized|be logged in", "import-advice.log-in"),
    (r"refused|Unable to connect|no such host|timeout", "import-advice.unreachable"),
    (r"have a resource type", "import-advice.unknown-kind"),
    (r"\(NotFound\)", "import-advice.no-such-object"),
    (r"No resources found", "import-advice.nothing-found"),
    (r"not found|not recognized", "import-advice.no-kubectl"),
    (r"^(Warning|[EWIF]\d{4})", "import-advice.warning"),
    ("", "import-advice.other"),
)
"""Part of a message → key of the advice; the first match counts."""
FOR_PEOPLE = (
    (re.compile(r"(NAMESPACE +)?NAME {2,}\S"), "import-advice.for-people"),
    (re.compile(r"Name: {3,}\S"), "import-advice.describe"),
)
"""Beginning of a text → key of what is wrong with it."""


def how() -> str:
    """Return how to write a dump."""
    return say("import-advice.how", command=GET)


def said_by_kubectl(line: str) -> str:
    """Return advice on a line that is a message of kubectl; "" for any other."""
    bare = PREFIX.sub("", line.strip())
    if not KUBECTL.match(bare):
        return ""
    advice = next(key for part, key in WHAT_TO_DO if re.search(part, bare))
    return say("import-advice.message", line=bare[:LONGEST], advice=say(advice))


def check_beginning(text: str) -> None:
    """Raises NotReadable if the text begins with a message of kubectl, or was written for people."""
    first = re.search(r"\S.*", text)
    if first is None:
        return
    problems = (say(key, how=how()) for form, key in FOR_PEOPLE if form.match(first[0]))
    advice = said_by_kubectl(first[0]) or next(problems, "")
    if advice:
        raise NotReadable(advice, text.count("\n", 0, first.start()) + 1, 0)


def explained(text: str, error: NotReadable) -> NotReadable:
    """Return the error, or a clearer one: a message of kubectl is there, or the text ends too early."""
    if not error.line:
        return error
    first = max(1, error.line - 1)
    near = {number: said_by_kubectl(line) for number, line in enumerate(_lines(text, first, error.line + 1), first)}
    for number in (error.line, error.line - 1, error.line + 1):
        if near.get(number):
            return NotReadable(near[number], number, 0)
    bare = text.rstrip()
    last, width = bare.count("\n") + 1, len(bare) - bare.rfind("\n") - 1
    if error.message.startswith("invalid") and (error.line, error.column) > (last, width):
        return NotReadable(f"{error.message}: {say('import-advice.cut-off')}", last, 0)
    return error


def _lines(text: str, first: int, last: int) -> list[str]:
    """Return some lines of a text that may have millions, without splitting all of it."""
    start = 0
    for _ in range(first - 1):
        start = text.find("\n", start) + 1
        if not start:
            return []
    return text[start:].split("\n", last - first + 1)[: last - first + 1]
