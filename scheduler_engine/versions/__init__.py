"""What differs between the versions of Kubernetes, as a table: ``table.py`` has one row per behaviour, ``gates.py`` the
feature gates. ``rules_for`` chooses one value from each row. Code asks for a rule, never for a version.
"""

from scheduler_engine.versions.gates import (
    GATED_FIELDS,
    GATES,
    NEEDS,
    NOT_SIMULATED,
    UNSIMULATED,
    Gate,
    check_needs,
    gates_text,
    is_on,
    known_gates,
    read_gates,
)
from scheduler_engine.versions.names import DEFAULT, RELEASES, VERSIONS, minor, release_of, version_named
from scheduler_engine.versions.showing import address_of, releases_text, value_text
from scheduler_engine.versions.table import DEFAULT_RULES, ROWS, Row, Rules, chosen_rules, explanation, named, rules_for

__all__ = (
    "DEFAULT",
    "DEFAULT_RULES",
    "GATED_FIELDS",
    "GATES",
    "NEEDS",
    "NOT_SIMULATED",
    "RELEASES",
    "ROWS",
    "UNSIMULATED",
    "VERSIONS",
    "Gate",
    "Row",
    "Rules",
    "address_of",
    "check_needs",
    "chosen_rules",
    "explanation",
    "gates_text",
    "is_on",
    "known_gates",
    "minor",
    "named",
    "read_gates",
    "release_of",
    "releases_text",
    "rules_for",
    "value_text",
    "version_named",
)
