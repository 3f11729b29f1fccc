"""The links of everybody in the tables of authority: id and token, as a path has them."""

from __future__ import annotations

from tests.sandbox.authority.requests import NEWCOMER
from tests.sandbox.authority.world import World

PAUSED = {"paused": "owner", "helper-paused": "helper"}
"""Who acts while the room is paused → who has the same link."""


def of_sandbox(people: World, desk_name: str) -> dict[str, list[str]]:
    """Return who → links that must lead to the same answer."""
    desk = people.desks[desk_name]
    another = next(one for one in people.desks.values() if one is not desk)
    tokens = {
        "nobody": [""],
        "wrong": ["wrong"],
        "foreign": [another.owner],
        "room": [people.trainer, people.projector, desk.token],
        "former": [desk.former],
        "watcher": [desk.watcher],
        "owner": [desk.owner],
        "helper": [desk.helper],
    }
    links = {who: [f"{desk.sandbox.pk}/{token}" for token in several] for who, several in tokens.items()}
    links["gone"] = [f"{people.pruned[0].pk}/{people.pruned[1]}"]
    return links | {who: links[same] for who, same in PAUSED.items()}


def of_room(people: World, desk_name: str) -> dict[str, str]:
    """Return who → link. The participant is the one at the desk."""
    ada, closed = people.desks["cluster"], people.closed[0].pk
    tokens = {
        "nobody": "",
        "wrong": "wrong",
        "foreign": people.foreign,
        "sandbox": ada.owner,
        "removed": people.removed,
        "left": people.left,
        "trainer": people.trainer,
        "assistant": people.assistant,
        "revoked": people.revoked,
        "projector": people.projector,
        "participant": people.newcomer if desk_name == NEWCOMER else ada.token,
    }
    return {
        **{who: f"{people.room.pk}/{token}" for who, token in tokens.items()},
        "gone": f"{people.pruned_room[0].pk}/{people.pruned_room[1]}",
        "closed-trainer": f"{closed}/{people.closed[1]}",
        "closed-participant": f"{closed}/{people.closed[2]}",
    }
