"""Acts that are cheap to request and expensive to execute, and large amounts of what is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from scheduler_engine.testing import Builder, make_node, make_pod
from tests.hostile.stranger import Manifest, Stranger
from tests.hostile.wire import ALWAYS, BROKEN, Connection, yaml

MANIFEST_BYTES = 1_000_000
PROBES = ("/healthz", "/readyz", "/metrics")
TAINTED = {"taints": [{"key": "out", "effect": "NoExecute"}]}


def template(**spec: Any) -> Manifest:
    return {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "main", "image": "x"}], **spec}}


def workload(kind: str, replicas: int, **spec: Any) -> Manifest:
    return (
        Builder("apps/v1", kind, f"x-{kind.lower()}", "default")
        .spec(replicas=replicas, selector={"matchLabels": {"app": "x"}}, template=template(**spec))
        .obj()
    )


def tainted_node(name: str) -> Manifest:
    return {**make_node(name).obj(), "spec": TAINTED}


def nodes(number: int, pods: str = "110") -> list[Manifest]:
    return [make_node(f"n{place}").capacity(cpu="64", memory="256Gi", pods=pods).obj() for place in range(number)]


async def evicted_at_once(stranger: Stranger, *, kind: str = "ReplicaSet", **spec: Any) -> None:
    base = await stranger.sandbox()
    await stranger.apply(base, tainted_node("out"), *nodes(1), workload(kind, 3, **spec))
    for verb in ("settle", "run", "back", "forward"):
        await stranger.post(f"{base}do/{verb}/")
    await stranger.post(f"{base}do/advance/", seconds="3600")


async def pinned_replica_set(stranger: Stranger) -> None:
    await evicted_at_once(stranger, nodeName="out", terminationGracePeriodSeconds=0)


async def pinned_stateful_set(stranger: Stranger) -> None:
    await evicted_at_once(stranger, kind="StatefulSet", nodeName="out", terminationGracePeriodSeconds=0)


async def tolerates_for_no_time(stranger: Stranger) -> None:
    for_no_time = {"key": "out", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
    base = await stranger.sandbox()
    spec = {"tolerations": [for_no_time], "terminationGracePeriodSeconds": 0}
    await stranger.apply(base, tainted_node("out"), workload("ReplicaSet", 3, **spec))
    for verb in ("settle", "run"):
        await stranger.post(f"{base}do/{verb}/")


async def giant_job(stranger: Stranger) -> None:
    base = await stranger.sandbox()
    most = 2147483647
    for spec in ({"completions": most}, {"completions": most, "parallelism": most}, {"completions": 10**5}):
        job = Builder("batch/v1", "Job", f"j{len(spec)}", "default").spec(
            completionMode="Indexed", template=template(restartPolicy="Never"), **spec
        )
        await stranger.apply(base, *nodes(1), job.obj())
        await stranger.post(f"{base}do/settle/")


def checked(*manifests: Manifest) -> Callable[[Stranger], Awaitable[None]]:
    async def act(stranger: Stranger) -> None:
        base = await stranger.sandbox()
        for verb in ("check", "apply"):
            await stranger.post(f"{base}{verb}/", manifests=yaml(manifests))

    return act


def _container(**fields: Any) -> Manifest:
    pod = make_pod("x").obj()
    return {**pod, "spec": {"containers": [{"name": "main", "image": "x", **fields}]}}


EQUAL_PORTS = _container(ports=[{"containerPort": 80, "hostPort": 80}] * 500)
UNKNOWN_FIELDS = {**make_pod("x").obj(), **{f"unknown{number}": 1 for number in range(8000)}}
QUANTITIES = _container(resources={"requests": {f"example.com/r{number}": "37e99998" for number in range(100)}})


async def missing_node(stranger: Stranger) -> None:
    base = await stranger.sandbox()
    await stranger.apply(base, *nodes(1), *(make_pod(f"m{number}").node("gone").obj() for number in range(50)))
    for _ in range(6):
        await stranger.post(f"{base}do/advance/", seconds="3600")
    await stranger.get(base)


async def long_settle(stranger: Stranger) -> None:
    """Settle thousands of pods on a thousand nodes, then move back and forth in the history."""
    base = await stranger.sandbox()
    await stranger.apply(base, *nodes(1000))
    for part in range(3):
        await stranger.apply(base, *(make_pod(f"p{part}-{number}").cpu("1m").obj() for number in range(1500)))
    await stranger.post(f"{base}do/settle/")
    await storm(stranger, base, 40)


async def to_and_fro(stranger: Stranger) -> None:
    """Several clients at once go back and forward in one large sandbox."""
    base = await stranger.sandbox()
    await stranger.apply(base, *nodes(500), *(make_pod(f"p{number}").cpu("1m").obj() for number in range(300)))
    for _ in range(10):
        await stranger.post(f"{base}do/pod/")
    await asyncio.gather(*(storm(stranger, base, 20) for _ in range(6)))


async def storm(stranger: Stranger, base: str, moves: int) -> None:
    own = Connection(stranger.port, stranger.address)
    try:
        for _ in range(moves):
            verb = stranger.random.choice(("back", "forward", "goto", "stage"))
            stranger.note(await own.post(f"{base}do/{verb}/", n=str(stranger.random.randint(0, 20))))
    finally:
        own.close()


async def long_play(stranger: Stranger) -> None:
    base = await stranger.sandbox()
    await stranger.apply(base, *nodes(3), workload("Deployment", 5))
    await stranger.post(f"{base}replicas/", count="5", leader_elect="on")
    for seconds in ["6250"] * 6 + ["0.0000014"] * 40:
        await stranger.post(f"{base}do/advance/", seconds=seconds, play="1")
    for path in ("", "do/back/", "do/forward/"):
        answer = stranger.http.post if path else stranger.http.get
        stranger.note(await answer(f"{base}{path}"))


async def config_maps(stranger: Stranger) -> None:
    """Create 108,000 objects, as fast as the server accepts them."""
    base = await stranger.sandbox()
    for part in range(12):
        documents = (
            f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{part}-{number}}}\n" for number in range(9000)
        )
        await stranger.post(f"{base}apply/", manifests="---\n".join(documents))


async def large_applies(stranger: Stranger) -> None:
    """Apply the same megabyte repeatedly: each time is a command in the log."""
    base = await stranger.sandbox()
    for number in range(40):
        data = {"n": str(number), "text": "x" * (MANIFEST_BYTES - 200)}
        await stranger.apply(base, {**Builder("v1", "ConfigMap", "large", "default").obj(), "data": data})


async def many_copies(stranger: Stranger) -> None:
    base = await stranger.sandbox()
    for number in range(6):
        await stranger.post(f"{base}add/node/", name=f"copy{number}", count="1000", cpu="4", memory="8Gi", pods="110")
        await stranger.post(f"{base}preview/pod/", name="copy", replicas="1000", cpu="1")
    await stranger.post(f"{base}do/run/")


async def creates(stranger: Stranger) -> None:
    for _ in range(2000):
        await stranger.post("/new/", scenario="three-zones-one-gpu-pool")


async def many_windows(stranger: Stranger) -> None:
    """Open twenty windows on one sandbox that steps as fast as it can, and read them."""
    base = await stranger.sandbox()
    await stranger.apply(base, *nodes(300), *(make_pod(f"w{number}").cpu("1m").obj() for number in range(300)))
    lines = [await stranger.line(base) for _ in range(20)]
    for line in lines:
        line.say({"open": ALWAYS, "follow": True})
    reading = [asyncio.create_task(_drain(line.reader)) for line in lines]
    try:
        for _ in range(200):
            await stranger.post(f"{base}do/stage/")
    finally:
        for task in reading:
            task.cancel()


async def _drain(reader: asyncio.StreamReader) -> None:
    with suppress(*BROKEN):
        while await reader.read(1 << 16):
            pass


async def probes(stranger: Stranger) -> None:
    """Ask what operators ask, which no limit counts, eight at a time."""

    async def flood() -> None:
        own = Connection(stranger.port, stranger.address)
        try:
            for _ in range(300):
                answer = stranger.note(await own.get(stranger.random.choice(PROBES)))
                if answer.status not in (200, 503):
                    stranger.wrong.append(f"{answer.status} {answer.text[:200]}")
        finally:
            own.close()

    await asyncio.gather(*(flood() for _ in range(8)))


async def reads(stranger: Stranger) -> None:
    """Request pages, panels and static files, eight at a time."""
    base = await stranger.sandbox()
    await stranger.apply(base, *nodes(200))
    paths = (
        "/",
        base,
        f"{base}panel/cluster/",
        f"{base}panel/filter/?pages=filter:2",
        f"{base}metrics",
        "/nothing/",
        "/compare/",
    )

    async def flood() -> None:
        own = Connection(stranger.port, stranger.address)
        try:
            for _ in range(150):
                stranger.note(await own.get(stranger.random.choice(paths)))
        finally:
            own.close()

    await asyncio.gather(*(flood() for _ in range(8)))
