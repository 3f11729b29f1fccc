"""Convert a Scheduling Policy to a KubeSchedulerConfiguration v1, and report the differences.

Every extension point is listed separately: a policy ran only what it named, which multiPoint cannot express.
Source: upstream v1.22 ``pkg/scheduler/factory.go`` (createFromConfig) and ``framework/plugins/legacy_registry.go``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_engine.api.parsing import Place
from scheduler_engine.config.build import takes_part
from scheduler_engine.config.decode import decode_as
from scheduler_engine.config.load import in_document, load_configuration
from scheduler_engine.config.policy.schema import POLICY
from scheduler_engine.config.policy.tables import (
    ALWAYS,
    ONLY_DOCUMENTED,
    POLICY_GONE,
    PREDICATES,
    PRIORITIES,
    SINCE_THEN,
    Predicate,
    Priority,
)
from scheduler_engine.config.policy.validation import predicate_of, priority_of, validate_policy, wrong_type
from scheduler_engine.config.schema import API_VERSION, KIND
from scheduler_engine.errors import Rejected
from scheduler_engine.framework.extension_points import EXTENSION_POINTS
from scheduler_engine.plugins.registry import REGISTRY

FIT, AFFINITY, SPREAD, PODS = "NodeResourcesFit", "NodeAffinity", "PodTopologySpread", "InterPodAffinity"
FILTERING = ("preFilter", "filter", "reserve", "preBind")
SCORING = ("preScore", "score")


@dataclass(frozen=True, slots=True)
class Notice:
    """A difference, or what was implied. ``path`` is the field of the policy, "" for all of it; ``line`` as in
    ``FieldError``.
    """

    path: str
    text: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Converted:
    """``configuration`` is a manifest that the scheduler loads."""

    configuration: dict[str, Any]
    notices: tuple[Notice, ...]


@dataclass(slots=True)
class _Draft:
    """The result so far: extension point → plugin → weight, arguments of plugins, notices."""

    points: dict[str, dict[str, int]] = field(default_factory=lambda: {point: {} for point in EXTENSION_POINTS})
    args: dict[str, dict[str, Any]] = field(default_factory=dict)
    notices: list[Notice] = field(default_factory=list)

    def tell(self, path: str, text: str) -> None:
        self.notices.append(Notice(path, text))

    def enable(self, plugin: str, points: tuple[str, ...], weight: int = 0) -> None:
        """Enable it at those of ``points`` where it takes part; the first weight stays."""
        for point in points:
            if takes_part(REGISTRY[plugin], point):
                self.points[point].setdefault(plugin, weight if point == "score" else 0)


def read_policy(text: str) -> Converted:
    """Convert the policy in a YAML or JSON text. Raises Rejected with all errors, line and column."""
    places: list[Place] = []
    converted = in_document(text, convert_policy, places.append)
    notices = (replace(item, line=places[0].find(item.path).line if item.path else 0) for item in converted.notices)
    return Converted(converted.configuration, tuple(notices))


def convert_policy(manifest: Any) -> Converted:
    """Convert a policy. Raises Rejected with all errors."""
    errors = wrong_type(manifest)
    if errors:
        raise Rejected(errors)
    policy = decode_as(manifest, POLICY)
    errors = validate_policy(policy)
    if errors:
        raise Rejected(errors)
    draft = _Draft()
    _predicates(policy, draft)
    _priorities(policy, draft)
    _rest(policy, draft)
    configuration = _written(draft)
    # A policy can be valid, and its numbers still too large for today's scheduler.
    load_configuration(configuration)
    return Converted(configuration, tuple(draft.notices))


def _predicates(policy: Mapping[str, Any], draft: _Draft) -> None:
    predicates = policy.get("predicates")
    named = {} if predicates is None else dict(_named_predicates(predicates, draft))
    if predicates is None:
        names = ", ".join(item.name for item in PREDICATES if item.default)
        draft.tell("", f"The policy has no list of predicates, so the default ones ran: {names}.")
    for known in PREDICATES:
        if known.name in named or known.always or (predicates is None and known.default):
            # Labels required on every node are NodeAffinity's today.
            demands = known.argument == "labelsPresence" and AFFINITY in draft.args
            for plugin in (AFFINITY,) if demands else known.plugins:
                draft.enable(plugin, FILTERING)
        if known.always and predicates is not None and known.name not in named:
            draft.tell("predicates", f"{known.name} is not in the list. It ran with every policy, so it runs here too.")


def _named_predicates(predicates: list[dict[str, Any]], draft: _Draft) -> Iterator[tuple[str, Predicate]]:
    """Yield the predicates in the list, and note arguments and differences."""
    for index, item in enumerate(predicates):
        known, path, name = predicate_of(item), f"predicates[{index}]", item.get("name", "")
        if known is None:
            continue
        argument = (item.get("argument") or {}).get("labelsPresence")
        if known.argument == "labelsPresence" and argument is not None:
            operator = "Exists" if argument.get("presence") else "DoesNotExist"
            _demanded(draft, [{"key": label, "operator": operator} for label in argument.get("labels", ())])
            draft.tell(path, f"{known.note} NodeAffinity also checks the pods’ own node selectors.")
        elif known.changed:
            when = "" if known.gone == POLICY_GONE else f"It has had no effect since {known.gone}. "
            draft.tell(path, f"{name or known.name}: {when}{known.note}")
        if name in ONLY_DOCUMENTED:
            draft.tell(path, f"The documentation had the name {name}, but the scheduler knew only {known.name}.")
        if item.get("argument") and known.argument not in item["argument"]:
            draft.tell(f"{path}.argument", f"{known.name} takes no argument. This one was ignored, as it is here.")
        yield known.name, known


def _demanded(draft: _Draft, expressions: list[dict[str, Any]]) -> None:
    """Require labels on every node, for all pods: requirements of one term, all of which must hold."""
    if expressions:
        affinity = draft.args.setdefault(AFFINITY, {}).setdefault("addedAffinity", {})
        terms = affinity.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": [{}]})
        terms["nodeSelectorTerms"][0].setdefault("matchExpressions", []).extend(expressions)


def _priorities(policy: Mapping[str, Any], draft: _Draft) -> None:
    priorities = policy.get("priorities")
    weights: dict[str, int] = {}
    if priorities is None:
        weights = {known.name: known.weight for known in PRIORITIES if known.weight}
        shown = ", ".join(f"{name} {weight}" for name, weight in weights.items())
        draft.tell("", f"The policy has no list of priorities, so the default ones ran, with these weights: {shown}.")
    for index, item in enumerate(priorities or ()):
        known, path = priority_of(item), f"priorities[{index}]"
        if known is None:
            continue
        if known.name in weights and not known.argument:
            draft.tell(path, f"{known.name} appears twice. The last weight counts, as it did in v1.22.")
        weights[known.name] = item["weight"]
        _argument(known, item, draft)
        if known.changed:
            draft.tell(path, f"{item.get('name') or known.name}: {known.note}")
    if priorities is None:
        for known in PRIORITIES:
            if known.weight and known.changed:
                draft.tell("", f"{known.name}: {known.note}")
    _scored(
        {known: weights[known.name] for known in PRIORITIES if known.name in weights},
        draft,
        "" if priorities is None else "priorities",
    )


def _argument(known: Priority, item: Mapping[str, Any], draft: _Draft) -> None:
    """Convert a custom priority's arguments: a shape, or a label that is liked or disliked."""
    argument = (item.get("argument") or {}).get(known.argument) or {}
    if known.argument == "requestedToCapacityRatioArguments":
        strategy = {"type": known.strategy, "requestedToCapacityRatio": {"shape": argument.get("shape", [])}}
        if argument.get("resources"):
            strategy["resources"] = argument["resources"]
        draft.args.setdefault(FIT, {})["scoringStrategy"] = strategy
    elif known.argument == "labelPreference":
        affinity = draft.args.setdefault(AFFINITY, {}).setdefault("addedAffinity", {})
        operator = "Exists" if argument.get("presence") else "DoesNotExist"
        term = {"matchExpressions": [{"key": argument.get("label", ""), "operator": operator}]}
        terms = affinity.setdefault("preferredDuringSchedulingIgnoredDuringExecution", [])
        terms.append({"weight": 1, "preference": term})


def _scored(weights: Mapping[Priority, int], draft: _Draft, path: str) -> None:
    """Enable score plugins with their weights. If two priorities shared one, the first of them decided."""
    by_name = {known.name: weight for known, weight in weights.items()}
    strategies = {known: weight for known, weight in weights.items() if known.strategy}
    kept = max(strategies, key=lambda known: strategies[known], default=None)
    for known in strategies:
        if known is not kept and kept is not None:
            text = (
                f"{known.name} and {kept.name} are now strategies of one plugin, {FIT}. It can have only one strategy. "
                f"The one with the larger weight is kept: {kept.name}."
            )
            draft.tell(path, text)
    for known, weight in weights.items():
        if known.plugin and (not known.strategy or known is kept):
            draft.enable(known.plugin, SCORING, weight)
    if kept is None or kept.strategy != "RequestedToCapacityRatio":
        draft.args.get(FIT, {}).pop("scoringStrategy", None)
    if kept is not None and kept.strategy == "MostAllocated":
        draft.args.setdefault(FIT, {})["scoringStrategy"] = {"type": "MostAllocated"}
    if "NodeLabel" in by_name:
        preferred = draft.args[AFFINITY]["addedAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        draft.enable(AFFINITY, SCORING, by_name["NodeLabel"] * len(preferred))
    _spread(by_name, draft, path)


def _spread(weights: Mapping[str, int], draft: _Draft, path: str) -> None:
    """Map the old SelectorSpread to the built-in default constraints; without it there were none."""
    own, implied = weights.get("EvenPodsSpreadPriority"), weights.get("SelectorSpreadPriority")
    if own is not None or implied is not None:
        draft.args[SPREAD] = {"defaultingType": "List" if implied is None else "System"}
    if own is not None and implied is not None and own != implied:
        text = (
            f"EvenPodsSpreadPriority and SelectorSpreadPriority share the plugin {SPREAD}, which has one weight. "
            f"As in v1.22, the weight of EvenPodsSpreadPriority is kept: {own}."
        )
        draft.tell(path, text)


def _rest(policy: Mapping[str, Any], draft: _Draft) -> None:
    hard = policy.get("hardPodAffinitySymmetricWeight", 0)
    if hard and PODS in draft.points["score"]:
        draft.args[PODS] = {"hardPodAffinityWeight": hard}
    elif hard:
        text = "Without InterPodAffinityPriority it had no effect, so it is left out."
        draft.tell("hardPodAffinitySymmetricWeight", text)
    if policy.get("alwaysCheckAllPredicates"):
        text = "This no longer exists: for each node the scheduler reports only the first plugin that refuses it."
        draft.tell("alwaysCheckAllPredicates", text)
    ignored: dict[str, None] = {}
    for index, extender in enumerate(policy.get("extenders", ())):
        text = (
            "Left out, because a sandbox cannot call extenders. kube-scheduler v1.34 still has them, in the field "
            "extenders of its configuration. There httpTimeout is a duration such as 5s."
        )
        draft.tell(f"extenders[{index}]", text)
        managed = extender.get("managedResources", ())
        ignored.update((item["name"], None) for item in managed if item.get("ignoredByScheduler"))
    if ignored:
        draft.args.setdefault(FIT, {})["ignoredResources"] = list(ignored)
        text = f"{FIT} ignores {', '.join(ignored)}, because only extenders manage it."
        draft.tell("extenders", text)
    for plugin in ALWAYS:
        draft.enable(plugin, tuple(EXTENSION_POINTS))
    text = f"{' and '.join(SINCE_THEN)} are newer than policies. They affect only pods that use these features."
    draft.tell("", text)


def _written(draft: _Draft) -> dict[str, Any]:
    plugins: dict[str, Any] = {"multiPoint": {"disabled": [{"name": "*"}]}}
    for point, listed in draft.points.items():
        if listed:
            items = [{"name": name, "weight": weight} if weight else {"name": name} for name, weight in listed.items()]
            plugins[point] = {"enabled": items}
    profile: dict[str, Any] = {"schedulerName": "default-scheduler", "plugins": plugins}
    used = {name for listed in draft.points.values() for name in listed}
    configs = [{"name": name, "args": args} for name, args in draft.args.items() if args and name in used]
    if configs:
        profile["pluginConfig"] = configs
    return {"apiVersion": API_VERSION, "kind": KIND, "profiles": [profile]}
