"""Run recorded scheduler configurations: defaults, validation errors, effective plugins.

For a configuration that cannot be decoded, or that crashes the real scheduler, only the refusal counts.
"""

from __future__ import annotations

from typing import Any

from scheduler_engine.config.build import build_profiles
from scheduler_engine.config.decode import decode
from scheduler_engine.config.defaults import set_defaults
from scheduler_engine.config.load import load_configuration
from scheduler_engine.config.schema import schema_for, written
from scheduler_engine.config.types import Profile
from scheduler_engine.config.validation import validate
from scheduler_engine.conformance.compare import differences
from scheduler_engine.conformance.versions import rules_of
from scheduler_engine.errors import FieldError, Rejected
from scheduler_engine.plugins.registry import registry_for
from scheduler_engine.versions import Rules


def run(case: dict[str, Any]) -> list[str]:
    """Return the differences of one case; both the text and the JSON form are loaded."""
    rules = rules_of(case)
    lines = _stages(case, rules)
    accepted = case["decodeError"] is None and not case["errors"] and "plugins" in case
    for form in ("json", "text"):
        try:
            load_configuration(case[form], rules)
        except Rejected as rejected:
            if accepted:
                lines.append(f"{form}: expected to be accepted, got {rejected}")
        else:
            if not accepted:
                lines.append(f"{form}: expected to be refused, got accepted")
    return lines


def _stages(case: dict[str, Any], rules: Rules) -> list[str]:
    try:
        defaulted = set_defaults(decode(case["json"], rules), rules)
    except Rejected as rejected:
        return [] if case["decodeError"] else [f"decodeError: expected nothing, got {rejected}"]
    if case["decodeError"]:
        return [f"decodeError: expected {case['decodeError']}, got nothing"]
    lines = differences(case["defaulted"], written(defaulted, schema_for(rules).configuration), "defaulted")
    errors = validate(defaulted, rules)
    lines += _compare_errors(case, errors)
    return lines if errors else lines + _compare_build(case, defaulted, rules)


def _compare_errors(case: dict[str, Any], errors: list[FieldError]) -> list[str]:
    expected = [{key: error[key] for key in ("field", "type", "text")} for error in case["errors"]]
    got = [{"field": error.path, "type": error.kind, "text": str(error)} for error in errors]
    if not case["ordered"]:
        expected.sort(key=lambda error: error["text"])
        got.sort(key=lambda error: error["text"])
    return differences(expected, got, "errors")


def _compare_build(case: dict[str, Any], defaulted: dict[str, Any], rules: Rules) -> list[str]:
    try:
        profiles = build_profiles(defaulted, registry_for(rules), rules)
    except Rejected as rejected:
        return [] if case.get("buildPanic") else differences(case["buildError"], str(rejected), "buildError")
    if "plugins" not in case:
        return [f"buildError: expected {case['buildError'] or case.get('buildPanic')}, got nothing"]
    return differences(case["plugins"], {profile.scheduler_name: _plugins(profile) for profile in profiles}, "plugins")


def _plugins(profile: Profile) -> dict[str, list[Any]]:
    return {
        point: [{"name": name, "weight": weight} if point == "score" else name for name, weight in plugins]
        for point, plugins in profile.plugins.items()
    }
