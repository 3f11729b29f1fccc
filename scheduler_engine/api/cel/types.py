"""Types of CEL: ``("int",)``, ``("list", item)``, ``("map", key, value)``, ``("param", name)``; and which fit which.

Source: upstream ``cel-go/checker/types.go``.
"""

from __future__ import annotations

Type = tuple["str | Type", ...]
Mapping = dict[Type, Type]
"""Type parameter → what it stands for."""

BOOL, INT, UINT, DOUBLE = ("bool",), ("int",), ("uint",), ("double",)
STRING, BYTES, NULL = ("string",), ("bytes",), ("null_type",)
DYN, ANY, ERROR = ("dyn",), ("any",), ("!error!",)
QUANTITY, SEMVER, IP, CIDR = ("kubernetes.Quantity",), ("kubernetes.Semver",), ("net.IP",), ("net.CIDR",)
URL, FORMAT = ("kubernetes.URL",), ("kubernetes.NamedFormat",)
TIMESTAMP, DURATION = ("google.protobuf.Timestamp",), ("google.protobuf.Duration",)
OPTIONAL = "optional_type"
SIMPLE = {item[0]: item for item in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, DYN)}
"""The simple types, by name."""
NAMEABLE: dict[str, Type] = {name: item for name, item in SIMPLE.items() if item != DYN} | {
    "list": ("list", DYN),
    "map": ("map", DYN, DYN),
    "type": ("type",),
    TIMESTAMP[0]: TIMESTAMP,
    DURATION[0]: DURATION,
}
"""The types that an expression can name."""
NULLABLE = (ANY, QUANTITY, SEMVER, IP, CIDR, URL, FORMAT, TIMESTAMP, DURATION)


MESSAGE_NAMES: Mapping = {NULL: ("null",), TIMESTAMP: ("timestamp",), DURATION: ("duration",)}
RESULT_NAMES: Mapping = {ANY: ("google.protobuf.Any",)}
"""What the message about a wrong type of the result calls types."""


def is_dynamic(item: Type) -> bool:
    return item in (DYN, ANY)


def parameters(item: Type) -> tuple[Type, ...]:
    return item[1:] if item[0] not in ("param", "object") else ()  # type: ignore[return-value]


def parts(item: Type) -> int:
    """Return how many types a type consists of, with itself."""
    return 1 + sum(map(parts, parameters(item)))


def shown(item: Type, names: Mapping = MESSAGE_NAMES) -> str:
    """Return a type as messages show it. ``names``: what some types are called."""
    if item[0] in ("param", "object"):
        return str(item[1])
    if item in names:
        return str(names[item][0])
    inner = ", ".join(shown(part, names) for part in parameters(item))
    return f"{item[0]}({inner})" if inner else str(item[0])


def substituted(item: Type, mapping: Mapping, to_dyn: bool = False) -> Type:
    """Replace type parameters by what they stand for. ``to_dyn``: the others become dyn."""
    if item[0] == "param":
        found = mapping.get(item)
        if found is not None:
            return substituted(found, mapping, to_dyn)
        return DYN if to_dyn else item
    inner = parameters(item)
    return (item[0], *(substituted(part, mapping, to_dyn) for part in inner)) if inner else item


def assignable(mapping: Mapping, have: Type, want: Type) -> Mapping | None:
    """Return the mapping by which ``have`` fits ``want``, None if it never does."""
    return all_assignable(mapping, (have,), (want,))


def all_assignable(mapping: Mapping, have: tuple[Type, ...], want: tuple[Type, ...]) -> Mapping | None:
    """Like ``assignable``, for lists of equal length."""
    tried = dict(mapping)
    if len(have) == len(want) and all(_fits(tried, one, other) for one, other in zip(have, want, strict=True)):
        return tried
    return None


def _fits(mapping: Mapping, have: Type, want: Type) -> bool:
    if want[0] == "param":
        valid, bound = _substitutes(mapping, have, want)
        if valid or bound:
            return valid
    if have[0] == "param":
        return _substitutes(mapping, want, have)[0]
    if ERROR in (have, want) or is_dynamic(have) or is_dynamic(want):
        return True
    if NULL in (have, want):
        other = want if have == NULL else have
        return other == NULL or other in NULLABLE or other[0] in (OPTIONAL, "object")
    if have[0] != want[0]:
        return False
    if have[0] == "type":
        return True
    inner, wanted = parameters(have), parameters(want)
    if not inner:
        return have == want
    return len(inner) == len(wanted) and all(_fits(mapping, *pair) for pair in zip(inner, wanted, strict=True))


def _substitutes(mapping: Mapping, item: Type, param: Type) -> tuple[bool, bool]:
    """Return whether ``param`` can stand for ``item``, and whether it already stands for something."""
    if item == param:
        return True, True
    held = mapping.get(param)
    if held is None:
        if _refers(mapping, param, item):
            return False, False
        mapping[param] = item
        return True, False
    if item == held:
        return True, True
    if not _fits(mapping, item, held):
        return False, True
    general = most_general(item, held)
    if not _refers(mapping, param, general):
        mapping[param] = general
    return True, True


def _refers(mapping: Mapping, param: Type, within: Type) -> bool:
    if within == param:
        return True
    if within[0] == "param":
        held = mapping.get(within)
        return held is not None and _refers(mapping, param, held)
    return any(_refers(mapping, param, part) for part in parameters(within))


def most_general(one: Type, other: Type) -> Type:
    return one if _less_specific(one, other) else other


def _less_specific(one: Type, other: Type) -> bool:
    if is_dynamic(one) or one[0] == "param":
        return True
    if is_dynamic(other) or other[0] == "param" or one[0] != other[0]:
        return False
    inner, others = parameters(one), parameters(other)
    if one[0] == "type" or not inner:
        return one[0] == "type" or one == other
    return len(inner) == len(others) and all(_less_specific(*pair) for pair in zip(inner, others, strict=True))
