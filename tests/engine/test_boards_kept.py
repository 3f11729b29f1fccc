"""What plugins say about all domains is kept while it cannot change, and is asked again when it can."""

from __future__ import annotations

from scheduler_engine import commands
from scheduler_engine.framework.extension_points import STAGES
from scheduler_engine.scheduler import explaining
from scheduler_engine.simulation import Simulation
from scheduler_engine.testing import make_node, make_pod

HOST, WEB = "kubernetes.io/hostname", {"app": "web"}
PLUGINS = {"PodTopologySpread": "explain_spread", "InterPodAffinity": "explain_affinity"}


def test_an_attempt_asks_again_only_after_pre_filter_and_pre_score() -> None:
    simulation = Simulation(seed=1)
    nodes = [make_node(f"n{number}").capacity(cpu="4", pods="9").obj() for number in range(3)]
    placed = make_pod("placed").labels(WEB).node("n0").obj()
    pod = make_pod("new").labels(WEB).cpu("1").spread(HOST, WEB).spread(HOST, WEB, when="ScheduleAnyway")
    simulation.execute(commands.Apply(manifests=[*nodes, placed, pod.affinity(HOST, WEB, weight=10).obj()]))
    simulation.execute(commands.Stage())
    cycle = simulation.scheduler.latest
    assert cycle is not None
    kept: dict[str, list[int]] = {plugin: [] for plugin in PLUGINS}
    while cycle.stage:
        for plugin, method in PLUGINS.items():
            ask = explaining.spread_boards if method == "explain_spread" else explaining.affinity_board
            shown = ask(simulation.scheduler, cycle.pod, plugin, cycle.number)
            fresh = getattr(cycle.framework.plugins[plugin], method)(
                cycle.state, cycle.pod, simulation.scheduler.snapshot.list()
            )
            assert shown == fresh, (plugin, cycle.stage)
            kept[plugin].append(id(shown))
        simulation.execute(commands.Stage())
    for plugin, answers in kept.items():
        assert len(answers) > len(STAGES) // 2
        assert len({*answers}) <= 4, plugin
