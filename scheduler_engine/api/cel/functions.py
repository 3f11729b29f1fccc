"""The functions that expressions can call. Source: upstream ``cel-go/{common/stdlib,ext}``, ``apiserver/pkg/cel``."""

from __future__ import annotations

from typing import Any

from scheduler_engine.api.cel import times, zones
from scheduler_engine.api.cel.addresses import (
    Address,
    Network,
    cidr,
    contains_cidr,
    contains_ip,
    ip,
    is_link_local_multicast,
    masked,
)
from scheduler_engine.api.cel.conversions import (
    to_bool,
    to_bytes,
    to_double,
    to_duration,
    to_int,
    to_string,
    to_timestamp,
    to_uint,
)
from scheduler_engine.api.cel.formats import CHECKS, Format, named, validate
from scheduler_engine.api.cel.formatting import format_text, quote
from scheduler_engine.api.cel.lists import LIST_FUNCTIONS
from scheduler_engine.api.cel.semver import Semver, parse_loosely, parse_semver
from scheduler_engine.api.cel.texts import (
    char_at,
    find,
    find_all,
    in_ascii,
    index_of,
    join,
    last_index_of,
    matches,
    replace,
    split,
    substring,
    trim,
)
from scheduler_engine.api.cel.times import Duration, Timestamp
from scheduler_engine.api.cel.typed import Function, typed
from scheduler_engine.api.cel.urls import Url, query_of, url
from scheduler_engine.api.cel.values import (
    NOTHING,
    OPERATORS,
    CelError,
    CelType,
    Computed,
    Optional,
    key_of,
    name_of,
    no_overload,
    plain_key,
    text_of,
)
from scheduler_engine.api.quantity import LARGEST, NANO, Quantity, added, negated, parse_quantity

# --- quantities, versions, addresses ----------------------------------------------------------------------------------


@typed("quantity", str)
def quantity(text: str) -> Quantity:
    try:
        return parse_quantity(text)
    except ValueError as problem:
        raise CelError(str(problem)) from None


@typed("semver", str, bool)
def semver(text: str, loosely: bool = False) -> Semver:
    try:
        return parse_loosely(text) if loosely else parse_semver(text)
    except ValueError as problem:
        raise CelError(str(problem)) from None


def _is(name: str, make: Function, *kinds: Any) -> Function:
    @typed(name, *kinds)
    def valid(*args: Any) -> bool:
        try:
            make(*args)
        except CelError:
            return False
        return True

    return valid


def _order(name: str, one: Any, other: Any) -> int:
    if isinstance(one, Quantity) and isinstance(other, Quantity):
        return (one.nano > other.nano) - (one.nano < other.nano)
    if isinstance(one, Semver) and isinstance(other, Semver):
        return one.compare(other)
    raise no_overload(name, one, other)


def _as_quantity(value: Quantity | int) -> Quantity:
    return value if isinstance(value, Quantity) else parse_quantity(str(value))


@typed("add", Quantity, (Quantity, int))
def quantity_add(one: Quantity, other: Quantity | int) -> Quantity:
    return _computed(added(one, _as_quantity(other)))


@typed("sub", Quantity, (Quantity, int))
def quantity_sub(one: Quantity, other: Quantity | int) -> Quantity:
    return _computed(added(one, negated(_as_quantity(other))))


def _computed(held: Quantity) -> Computed:
    return Computed(held.nano, held.notation, held.written, held.digits, held.scale, held.wide)


def _whole(amount: Quantity) -> bool:
    return not amount.wide and amount.nano % NANO == 0 and abs(amount.nano // NANO) <= LARGEST


@typed("asInteger", Quantity)
def as_integer(amount: Quantity) -> int:
    if not _whole(amount):
        raise CelError("cannot convert value to integer")
    return amount.nano // NANO


# --- optional values --------------------------------------------------------------------------------------------------


@typed("value", Optional)
def value_of(value: Optional) -> Any:
    if not value.held:
        raise CelError("optional.none() dereference")
    return value.held[0]


def _non_zero(value: Any) -> Optional:
    return NOTHING if value in EMPTY else Optional((value,))


def _unwrapped(name: str) -> Function:
    @typed(name, list)
    def unwrap(items: list[Any]) -> list[Any]:
        if items and not isinstance(items[0], Optional):
            raise no_overload(name, items)
        for item in items:
            if not isinstance(item, Optional):
                raise CelError(f"value {text_of(item)} is not optional")
        return [item.held[0] for item in items if item.held]

    return unwrap


def _constant(held: Format) -> Function:
    return lambda: held


def map_insert(held: dict[Any, Any], *entry: Any) -> dict[Any, Any]:
    """Add a key and a value, or the entries of another map, to a map that nothing else knows yet. Raises CelError for a
    known key.
    """
    added = {key_of(entry[0]): entry[1]} if len(entry) > 1 else entry[0]
    for key in added:
        if key in held:
            raise CelError(f"insert failed: key {text_of(plain_key(key))} already exists")
    held.update(added)
    return held


ZERO_TIME = Timestamp(times.EARLIEST * times.NANO)
"""The beginning of year 1, which Go takes for no time."""
EMPTY: tuple[Any, ...] = (0, "", b"", False, None, [], {}, Duration(0), ZERO_TIME)

FUNCTIONS: dict[str, Function] = OPERATORS | {
    **zones.FUNCTIONS,
    **LIST_FUNCTIONS,
    "type": lambda value: CelType(name_of(value)),
    "bool": to_bool,
    "bytes": to_bytes,
    "double": to_double,
    "dyn": lambda value: value,
    "int": to_int,
    "uint": to_uint,
    "string": to_string,
    "timestamp": to_timestamp,
    "duration": to_duration,
    "optional.unwrap": _unwrapped("optional.unwrap"),
    "unwrapOpt": _unwrapped("unwrapOpt"),
    "format": format_text,
    "strings.quote": quote,
    **{f"format.{name}": _constant(held) for name, (held, _) in CHECKS.items()},
    "format.named": named,
    "validate": validate,
    "url": url,
    "isURL": _is("isURL", url, str),
    "getScheme": typed("getScheme", Url)(lambda address: address.scheme),
    "getHost": typed("getHost", Url)(lambda address: address.host),
    "getHostname": typed("getHostname", Url)(lambda address: address.hostname),
    "getPort": typed("getPort", Url)(lambda address: address.port),
    "getEscapedPath": typed("getEscapedPath", Url)(lambda address: address.escaped_path),
    "getQuery": typed("getQuery", Url)(query_of),
    "contains": typed("contains", str, str)(lambda text, part: part in text),
    "endsWith": typed("endsWith", str, str)(lambda text, part: text.endswith(part)),
    "startsWith": typed("startsWith", str, str)(lambda text, part: text.startswith(part)),
    "matches": matches,
    "optional.of": lambda value: Optional((value,)),
    "optional.ofNonZeroValue": _non_zero,
    "optional.none": lambda: NOTHING,
    "value": value_of,
    "cel.@mapInsert": map_insert,
    "hasValue": typed("hasValue", Optional)(lambda value: bool(value.held)),
    "charAt": char_at,
    "indexOf": index_of,
    "lastIndexOf": last_index_of,
    "join": join,
    "lowerAscii": typed("lowerAscii", str)(in_ascii(str.lower)),
    "upperAscii": typed("upperAscii", str)(in_ascii(str.upper)),
    "replace": replace,
    "split": split,
    "substring": substring,
    "trim": trim,
    "find": find,
    "findAll": find_all,
    "quantity": quantity,
    "isQuantity": _is("isQuantity", quantity, str),
    "sign": typed("sign", Quantity)(lambda amount: (amount.nano > 0) - (amount.nano < 0)),
    "isGreaterThan": lambda one, other: _order("isGreaterThan", one, other) == 1,
    "isLessThan": lambda one, other: _order("isLessThan", one, other) == -1,
    "compareTo": lambda one, other: _order("compareTo", one, other),
    "asApproximateFloat": typed("asApproximateFloat", Quantity)(lambda amount: amount.nano / NANO),
    "asInteger": as_integer,
    "isInteger": typed("isInteger", Quantity)(_whole),
    "add": quantity_add,
    "sub": quantity_sub,
    "semver": semver,
    "isSemver": _is("isSemver", semver, str, bool),
    "major": typed("major", Semver)(lambda version: version.numbers[0]),
    "minor": typed("minor", Semver)(lambda version: version.numbers[1]),
    "patch": typed("patch", Semver)(lambda version: version.numbers[2]),
    "ip": ip,
    "isIP": _is("isIP", ip, str),
    "ip.isCanonical": lambda text: str(ip(text)) == text,
    "family": typed("family", Address)(lambda address: address.version),
    "isUnspecified": typed("isUnspecified", Address)(lambda address: address.is_unspecified),
    "isLoopback": typed("isLoopback", Address)(lambda address: address.is_loopback),
    "isLinkLocalMulticast": typed("isLinkLocalMulticast", Address)(is_link_local_multicast),
    "isLinkLocalUnicast": typed("isLinkLocalUnicast", Address)(lambda address: address.is_link_local),
    "isGlobalUnicast": typed("isGlobalUnicast", Address)(
        lambda address: (
            not (
                address.is_unspecified
                or address.is_loopback
                or address.is_multicast
                or address.is_link_local
                or str(address) == "255.255.255.255"
            )
        )
    ),
    "cidr": cidr,
    "isCIDR": _is("isCIDR", cidr, str),
    "containsIP": contains_ip,
    "containsCIDR": contains_cidr,
    "prefixLength": typed("prefixLength", Network)(lambda network: network.network.prefixlen),
    "masked": masked,
}
"""Function → what it does."""
