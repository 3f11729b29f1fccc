"""Which functions exist, and with which types. One line per overload: function, arguments, result, its id.

``.f`` is a method: its first argument stands before the dot. Source: upstream ``cel-go/common/stdlib`` and ``ext``,
``apiserver/pkg/cel/library``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_engine.api.cel.types import (
    CIDR,
    DURATION,
    FORMAT,
    IP,
    OPTIONAL,
    QUANTITY,
    SEMVER,
    SIMPLE,
    TIMESTAMP,
    URL,
    Type,
)

TABLE = """
_?_:_ bool A A -> A conditional
_&&_ bool bool -> bool logical_and
_||_ bool bool -> bool logical_or
!_ bool -> bool logical_not
@not_strictly_false bool -> bool not_strictly_false
_==_ A A -> bool equals
_!=_ A A -> bool not_equals
_+_ bytes bytes -> bytes add_bytes
_+_ double double -> double add_double
_+_ duration duration -> duration add_duration_duration
_+_ duration timestamp -> timestamp add_duration_timestamp
_+_ timestamp duration -> timestamp add_timestamp_duration
_+_ int int -> int add_int64
_+_ list(A) list(A) -> list(A) add_list
_+_ string string -> string add_string
_+_ uint uint -> uint add_uint64
_/_ double double -> double divide_double
_/_ int int -> int divide_int64
_/_ uint uint -> uint divide_uint64
_%_ int int -> int modulo_int64
_%_ uint uint -> uint modulo_uint64
_*_ double double -> double multiply_double
_*_ int int -> int multiply_int64
_*_ uint uint -> uint multiply_uint64
-_ double -> double negate_double
-_ int -> int negate_int64
_-_ double double -> double subtract_double
_-_ duration duration -> duration subtract_duration_duration
_-_ int int -> int subtract_int64
_-_ timestamp duration -> timestamp subtract_timestamp_duration
_-_ timestamp timestamp -> duration subtract_timestamp_timestamp
_-_ uint uint -> uint subtract_uint64
_[_] list(A) int -> A index_list
_[_] map(A,B) A -> B index_map
_[_] optional_type(list(A)) int -> optional_type(A) optional_list_index_int
_[_] optional_type(map(A,B)) A -> optional_type(B) optional_map_index_value
_[?_] list(A) int -> optional_type(A) list_optindex_optional_int
_[?_] optional_type(list(A)) int -> optional_type(A) optional_list_optindex_optional_int
_[?_] map(A,B) A -> optional_type(B) map_optindex_optional_value
_[?_] optional_type(map(A,B)) A -> optional_type(B) optional_map_optindex_optional_value
@in A list(A) -> bool in_list
@in A map(A,B) -> bool in_map
size bytes -> int size_bytes
.size bytes -> int bytes_size
size list(A) -> int size_list
.size list(A) -> int list_size
size map(A,B) -> int size_map
.size map(A,B) -> int map_size
size string -> int size_string
.size string -> int string_size
type A -> type(A) type
bool bool -> bool bool_to_bool
bool string -> bool string_to_bool
bytes bytes -> bytes bytes_to_bytes
bytes string -> bytes string_to_bytes
double double -> double double_to_double
double int -> double int64_to_double
double string -> double string_to_double
double uint -> double uint64_to_double
duration duration -> duration duration_to_duration
duration int -> duration int64_to_duration
duration string -> duration string_to_duration
dyn A -> dyn to_dyn
int int -> int int64_to_int64
int double -> int double_to_int64
int duration -> int duration_to_int64
int string -> int string_to_int64
int timestamp -> int timestamp_to_int64
int uint -> int uint64_to_int64
string string -> string string_to_string
string bool -> string bool_to_string
string bytes -> string bytes_to_string
string double -> string double_to_string
string duration -> string duration_to_string
string int -> string int64_to_string
string timestamp -> string timestamp_to_string
string uint -> string uint64_to_string
timestamp int -> timestamp int64_to_timestamp
timestamp string -> timestamp string_to_timestamp
timestamp timestamp -> timestamp timestamp_to_timestamp
uint uint -> uint uint64_to_uint64
uint double -> uint double_to_uint64
uint int -> uint int64_to_uint64
uint string -> uint string_to_uint64
.contains string string -> bool contains_string
.endsWith string string -> bool ends_with_string
.startsWith string string -> bool starts_with_string
matches string string -> bool matches
.matches string string -> bool matches_string
cel.@mapInsert map(A,B) A B -> map(A,B) @mapInsert_key_value
cel.@mapInsert map(A,B) map(A,B) -> map(A,B) @mapInsert_map
optional.of A -> optional_type(A) optional_of
optional.ofNonZeroValue A -> optional_type(A) optional_ofNonZeroValue
optional.none -> optional_type(A) optional_none
.value optional_type(A) -> A optional_value
.hasValue optional_type(A) -> bool optional_hasValue
.or optional_type(A) optional_type(A) -> optional_type(A) optional_or_optional
.orValue optional_type(A) A -> A optional_orValue_value
.first list(A) -> optional_type(A) list_first
.last list(A) -> optional_type(A) list_last
.slice list(A) int int -> list(A) list_slice
.flatten list(list(A)) -> list(A) list_flatten
.flatten list(dyn) int -> list(dyn) list_flatten_int
lists.range int -> list(int) lists_range
.reverse list(A) -> list(A) list_reverse
.distinct list(A) -> list(A) list_distinct
optional.unwrap list(optional_type(A)) -> list(A) optional_unwrap
.unwrapOpt list(optional_type(A)) -> list(A) optional_unwrapOpt
.charAt string int -> string string_char_at_int
.indexOf string string -> int string_index_of_string
.indexOf string string int -> int string_index_of_string_int
.indexOf list(A) A -> int list_a_index_of_int
.lastIndexOf string string -> int string_last_index_of_string
.lastIndexOf string string int -> int string_last_index_of_string_int
.lastIndexOf list(A) A -> int list_a_last_index_of_int
.join list(string) -> string list_join
.join list(string) string -> string list_join_string
.lowerAscii string -> string string_lower_ascii
.upperAscii string -> string string_upper_ascii
.replace string string string -> string string_replace_string_string
.replace string string string int -> string string_replace_string_string_int
.split string string -> list(string) string_split_string
.split string string int -> list(string) string_split_string_int
.substring string int -> string string_substring_int
.substring string int int -> string string_substring_int_int
.trim string -> string string_trim
.format string list(dyn) -> string string_format
strings.quote string -> string strings_quote
url string -> kubernetes.URL string_to_url
isURL string -> bool is_url_string
.getScheme kubernetes.URL -> string url_get_scheme
.getHost kubernetes.URL -> string url_get_host
.getHostname kubernetes.URL -> string url_get_hostname
.getPort kubernetes.URL -> string url_get_port
.getEscapedPath kubernetes.URL -> string url_get_escaped_path
.getQuery kubernetes.URL -> map(string,list(string)) url_get_query
format.named string -> optional_type(kubernetes.NamedFormat) format-named
.validate kubernetes.NamedFormat string -> optional_type(list(string)) format-validate
.find string string -> string string_find_string
.findAll string string -> list(string) string_find_all_string
.findAll string string int -> list(string) string_find_all_string_int
sets.contains list(A) list(A) -> bool list_sets_contains_list
sets.equivalent list(A) list(A) -> bool list_sets_equivalent_list
sets.intersects list(A) list(A) -> bool list_sets_intersects_list
quantity string -> kubernetes.Quantity string_to_quantity
isQuantity string -> bool is_quantity_string
sign kubernetes.Quantity -> int quantity_sign
.isGreaterThan kubernetes.Quantity kubernetes.Quantity -> bool quantity_is_greater_than
.isGreaterThan kubernetes.Semver kubernetes.Semver -> bool semver_is_greater_than
.isLessThan kubernetes.Quantity kubernetes.Quantity -> bool quantity_is_less_than
.isLessThan kubernetes.Semver kubernetes.Semver -> bool semver_is_less_than
.compareTo kubernetes.Quantity kubernetes.Quantity -> int quantity_compare_to
.compareTo kubernetes.Semver kubernetes.Semver -> int semver_compare_to
.asApproximateFloat kubernetes.Quantity -> double quantity_get_float
.asInteger kubernetes.Quantity -> int quantity_get_int
.isInteger kubernetes.Quantity -> bool quantity_is_integer
.add kubernetes.Quantity kubernetes.Quantity -> kubernetes.Quantity quantity_add
.add kubernetes.Quantity int -> kubernetes.Quantity quantity_add_int
.sub kubernetes.Quantity kubernetes.Quantity -> kubernetes.Quantity quantity_sub
.sub kubernetes.Quantity int -> kubernetes.Quantity quantity_sub_int
semver string -> kubernetes.Semver string_to_semver
semver string bool -> kubernetes.Semver string_bool_to_semver
isSemver string -> bool is_semver_string
isSemver string bool -> bool is_semver_string_bool
.major kubernetes.Semver -> int semver_major
.minor kubernetes.Semver -> int semver_minor
.patch kubernetes.Semver -> int semver_patch
ip string -> net.IP string_to_ip
isIP string -> bool is_ip
ip.isCanonical string -> bool ip_is_canonical
.family net.IP -> int ip_family
.isUnspecified net.IP -> bool ip_is_unspecified
.isLoopback net.IP -> bool ip_is_loopback
.isLinkLocalMulticast net.IP -> bool ip_is_link_local_multicast
.isLinkLocalUnicast net.IP -> bool ip_is_link_local_unicast
.isGlobalUnicast net.IP -> bool ip_is_global_unicast
string net.IP -> string ip_to_string
cidr string -> net.CIDR string_to_cidr
isCIDR string -> bool is_cidr
.containsIP net.CIDR string -> bool cidr_contains_ip_string
.containsIP net.CIDR net.IP -> bool cidr_contains_ip_ip
.containsCIDR net.CIDR string -> bool cidr_contains_cidr_string
.containsCIDR net.CIDR net.CIDR -> bool cidr_contains_cidr
.ip net.CIDR -> net.IP cidr_ip
.prefixLength net.CIDR -> int cidr_prefix_length
.masked net.CIDR -> net.CIDR cidr_masked
string net.CIDR -> string cidr_to_string
"""
COMPARED = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
NUMBERS = ("int", "uint", "double")
SUMMED = (*NUMBERS, "duration")
LIST_ITEMS = ("int", "uint", "double", "bool", "string", "bytes", "timestamp", "duration")


@dataclass(frozen=True, slots=True)
class Overload:
    """``method``: the first argument stands before the dot."""

    id: str
    args: tuple[Type, ...]
    result: Type
    method: bool


def _comparisons() -> list[str]:
    lines = []
    for sign, name in (("_<_", "less"), ("_<=_", "less_equals"), ("_>_", "greater"), ("_>=_", "greater_equals")):
        lines += [f"{sign} {kind} {kind} -> bool {name}_{kind}" for kind in COMPARED]
        pairs = ((one, other) for one in NUMBERS for other in NUMBERS if one != other)
        lines += [f"{sign} {one} {other} -> bool {name}_{one}_{other}" for one, other in pairs]
    return lines


def _of_lists() -> list[str]:
    lines = [f".isSorted list({kind}) -> bool list_{kind}_is_sorted_bool" for kind in LIST_ITEMS]
    lines += [f".sum list({kind}) -> {kind} list_{kind}_sum_{kind}" for kind in SUMMED]
    lines += [f".sort list({kind}) -> list({kind}) list_{kind}_sort" for kind in LIST_ITEMS]
    lines += [f".@sortByAssociatedKeys list(A) list({kind}) -> list(A) list_{kind}_sortBy" for kind in LIST_ITEMS]
    for name in ("max", "min"):
        lines += [f".{name} list({kind}) -> {kind} list_{kind}_{name}_{kind}" for kind in LIST_ITEMS]
    return lines


def _of_times() -> list[str]:
    lines = []
    for name, what in FIELDS.items():
        of_zone = "timestamp_to_seconds_tz" if what == "seconds" else f"timestamp_to_{what}_with_tz"
        lines += [f".{name} timestamp -> int timestamp_to_{what}", f".{name} timestamp string -> int {of_zone}"]
    return [*lines, *(f".{name} duration -> int duration_to_{FIELDS[name]}" for name in OF_DURATIONS)]


FIELDS = {
    "getFullYear": "year",
    "getMonth": "month",
    "getDayOfYear": "day_of_year",
    "getDayOfMonth": "day_of_month",
    "getDate": "day_of_month_1_based",
    "getDayOfWeek": "day_of_week",
    "getHours": "hours",
    "getMinutes": "minutes",
    "getSeconds": "seconds",
    "getMilliseconds": "milliseconds",
}
"""Function of timestamps → the part of its overloads' ids."""
OF_DURATIONS = ("getHours", "getMinutes", "getSeconds", "getMilliseconds")
FORMATS = (
    *("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName"),
    *("dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue"),
    *("uri", "uuid", "byte", "date", "datetime"),
)
NAMED = SIMPLE | {item[0]: item for item in (QUANTITY, SEMVER, IP, CIDR, URL, FORMAT)}
NAMED |= {"timestamp": TIMESTAMP, "duration": DURATION}


def _type(text: str) -> Type:
    if len(text) == 1:
        return ("param", text)
    name, _, inner = text.partition("(")
    if not inner:
        return NAMED[name]
    parts = re.split(r",(?![^(]*\))", inner[:-1])
    return (name if name != "optional_type" else OPTIONAL, *map(_type, parts))


def _read() -> dict[str, list[Overload]]:
    found: dict[str, list[Overload]] = {}
    formats = [f"format.{name} -> {FORMAT[0]} format.{name}" for name in FORMATS]
    for line in [*TABLE.strip().splitlines(), *_comparisons(), *_of_lists(), *_of_times(), *formats]:
        before, _, after = line.partition(" -> ")
        function, *args = before.split(" ")
        result, name = after.split(" ")
        method = function.startswith(".")
        overload = Overload(name, tuple(map(_type, args)), _type(result), method)
        found.setdefault(function.removeprefix(".") if method else function, []).append(overload)
    return found


OVERLOADS: Mapping[str, list[Overload]] = _read()
"""Function → its overloads."""
SINCE_135 = ("slice", "flatten", "sort", "@sortByAssociatedKeys", "lists.range", "reverse", "distinct")
"""Functions that new objects may use from v1.35 on."""
SIGNS_135 = tuple(name.partition(".")[0] for name in SINCE_135)
"""Texts of which one is in each expression that uses such a function, or the macro sortBy."""
OVERLOADS_134: Mapping[str, list[Overload]] = {name: held for name, held in OVERLOADS.items() if name not in SINCE_135}
