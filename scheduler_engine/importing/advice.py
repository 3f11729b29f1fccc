"""Advice about a file that is not a dump: it has kubectl's own messages, or its end is missing.

Message texts: upstream ``kubectl/pkg/cmd/util`` and ``apimachinery/pkg/api/errors``.
"""

from __future__ import annotations

import re

from scheduler_engine.api.parse_events import NotReadable

GET = "kubectl get nodes,pods,pvc,pv,sc,csinodes,pdb,priorityclasses,deploy,rs,sts,ds,svc,ns -A -o yaml"
"""The command that writes everything that affects placement."""
HOW = f"Write it with: {GET}"
LONGEST = 200
"""The most characters of a line in a message."""
CUT_OFF = "the file ends here: it is cut off. Run kubectl again, wait until it has finished, and upload the whole file"
KUBECTL = re.compile(
    "error: |Error from server|The connection to the server |Unable to connect to the server|No resources found|"
    r"Error in configuration|Warning: |[EWIF]\d{4} \d\d:\d\d:\d\d|.*: (command )?not found$|.* is not recognized as "
)
"""Prefixes of lines that kubectl, or a shell in its place, writes for people."""
PREFIX = re.compile(r"kubectl(\.exe)? : ")
"""PowerShell's prefix before them."""
WHAT_TO_DO = (
    (r"\(Forbidden\)", "You may not list this kind. Leave it out of the command, or ask for permission."),
    (r"Unauthorized|be logged in", "Log in to the cluster, then run the command again."),
    (
        r"refused|Unable to connect|no such host|timeout",
        "kubectl did not reach the cluster. Check: kubectl cluster-info",
    ),
    (r"have a resource type", "The cluster does not know this kind. Leave it out of the command."),
    (r"\(NotFound\)", "There is no such object. Check its name and its namespace."),
    (r"No resources found", "Check the namespace and the context of kubectl."),
    (r"not found|not recognized", "Run the command where kubectl is installed."),
    (r"^(Warning|[EWIF]\d{4})", "Run the command again without 2>&1, so that messages stay out of the file."),
    ("", "Run the command again, and upload the file when it has no message."),
)
"""Part of a message → advice; the first match counts."""
FOR_PEOPLE = (
    (re.compile(r"(NAMESPACE +)?NAME {2,}\S"), f"this is a table for people. {HOW}"),
    (re.compile(r"Name: {3,}\S"), f"this is the output of kubectl describe. {HOW}"),
)
"""Beginning of a text → what is wrong with it."""


def said_by_kubectl(line: str) -> str:
    """Return advice on a line that is a message of kubectl; "" for any other."""
    bare = PREFIX.sub("", line.strip())
    if not KUBECTL.match(bare):
        return ""
    advice = next(text for part, text in WHAT_TO_DO if re.search(part, bare))
    return f"this is a message, not an object: “{bare[:LONGEST]}”. {advice}"


def check_beginning(text: str) -> None:
    """Raises NotReadable if the text begins with a message of kubectl, or was written for people."""
    first = re.search(r"\S.*", text)
    if first is None:
        return
    advice = said_by_kubectl(first[0]) or next((advice for form, advice in FOR_PEOPLE if form.match(first[0])), "")
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
        return NotReadable(f"{error.message}: {CUT_OFF}", last, 0)
    return error


def _lines(text: str, first: int, last: int) -> list[str]:
    """Return some lines of a text that may have millions, without splitting all of it."""
    start = 0
    for _ in range(first - 1):
        start = text.find("\n", start) + 1
        if not start:
            return []
    return text[start:].split("\n", last - first + 1)[: last - first + 1]
