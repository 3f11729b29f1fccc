"""The tables of sentences and the engine's code agree: every key and every place is there, and no row is left over."""

from __future__ import annotations

from scheduler_engine.words import ROWS
from tests.sentences import ENGINE, SENTENCE, modules, said_keys, shown_texts, wrong_calls

ELSEWHERE = {
    "Kubernetes' own messages, and what its tables of fields are called": (
        *(
            "api/cel/",
            "api/eviction_order.py",
            "api/fields_",
            "api/labels.py",
            "api/name_patterns.py",
            "api/node_stats.py",
            "api/quantity.py",
        ),
        *("api/rejected_pods.py", "api/validation/", "api/warning", "apiserver/", "cache/", "config/", "controllers/"),
        "durations.py",
        *("framework/", "importing/kept.py", "kubelet/", "leaderelection/", "plugins/", "preemption/"),
        *("scheduler/failure.py", "scheduler/fit_error.py", "scheduler/search.py", "queue/scheduling_queue.py"),
    ),
    "remarks that traces hold": ("queue/hints.py", "replica.py"),
    "what a terminal or a failing test shows": ("cli/", "conformance/", "pytest_plugin/", "testing/"),
    "help texts of Prometheus metrics": ("metrics.py",),
}
"""What the sentences are that stand in code → the modules with them."""
KUBERNETES_WORDS = (
    *("Kubelet stopped posting node status.", "kubelet is posting ready status", "kubelet is not ready"),
    *("Node created without a route", "RouteController created a route", "must be greater than or equal to 0"),
    *("the server could not find the requested resource", "can't restart paused deployment", "not found"),
    *(
        "No preemption victims found for incoming pod",
        "kubectl get nodes",
        "be logged in",
        "Unable to connect",
        "have a resource type",
        "No resources found",
    ),
    *("no matches for kind", "rejected due to timeout", "skip schedule deleting pod", "is assumed already"),
    *('unknown field "{}"', 'unknown field "{}.{}"', 'duplicate field "{}"', "Marking for deletion"),
    *("pod updates may not change fields other than", "healthy pods and has", 'for "{}" flag'),
    *("waiting on permit for pod", "preempted by {}", "unrecognized feature gate", "cannot set feature gate"),
    *("depends on features that are disabled", "timed out trying to allocate devices", "was not created for pod"),
    *(
        "binding volumes: failed to check",
        "missing bool value for",
        "strconv.ParseBool: parsing",
        "invalid value of {}={}",
    ),
)
"""Parts of Kubernetes' messages in other modules, and of patterns for them."""
NAMES = ("writable layer", "grace of hard evictions")
"""Names of fields, as the page spells them."""
UNSEEN_CALLS = ("AssertionError", "RuntimeError", "TypeError")


def test_every_row_is_said_by_somebody() -> None:
    assert sorted(ROWS.keys() - said_keys(ENGINE, ROWS)) == []


def test_every_sentence_that_is_said_has_its_row_and_its_places() -> None:
    wrong = wrong_calls(ENGINE, ROWS, "say")
    assert not wrong, "\n".join(wrong)


def test_no_module_writes_a_sentence_itself() -> None:
    elsewhere = tuple(name for names in ELSEWHERE.values() for name in names)
    wrong = []
    for path, module in modules(ENGINE).items():
        name = path.relative_to(ENGINE).as_posix()
        if name.startswith(elsewhere):
            continue
        for line, text, _ in shown_texts(module, UNSEEN_CALLS):
            if SENTENCE.search(text) and text not in NAMES and not any(words in text for words in KUBERNETES_WORDS):
                wrong.append(f"{name}:{line}: {text}")
    assert not wrong, "\n".join(wrong)


def test_every_module_in_the_list_of_others_exists_and_has_sentences() -> None:
    for names in ELSEWHERE.values():
        for name in names:
            trees = (
                tree for path, tree in modules(ENGINE).items() if path.relative_to(ENGINE).as_posix().startswith(name)
            )
            texts = [text for tree in trees for _, text, _ in shown_texts(tree, UNSEEN_CALLS)]
            assert any(SENTENCE.search(text) for text in texts), name
