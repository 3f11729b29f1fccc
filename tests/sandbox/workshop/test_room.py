"""The actions in a room, who may take them, and what they change for whom."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from sandbox.content import shelf
from sandbox.server import pruning
from sandbox.storage import tokens
from sandbox.storage.models import LONGEST_TITLE, Key, Sandbox, Study
from sandbox.web import executing
from sandbox.words.say import say
from sandbox.workshop import access, board, consumers, people, results, sources
from sandbox.workshop import room as rooms
from sandbox.workshop.fragments import Board
from sandbox.workshop.models import Participant, Seat, Workshop
from scheduler_engine.errors import Rejected
from tests.sandbox.workshop.conftest import Person

Joined = Callable[[str], Person]
TITLE = "Scheduling for platform engineers, the morning group on Monday ".ljust(LONGEST_TITLE, "x")


def workbench(sandbox: Sandbox, token: str, path: str = "") -> str:
    return f"/s/{sandbox.pk}/{token}/{path}"


def test_the_form_opens_a_room_whose_page_has_the_code_and_the_sandbox(db: None) -> None:
    answer = Client().post("/workshop/open/", {"scenario": "node-selector", "title": TITLE})
    assert answer.status_code == 302
    page = Client().get(answer["Location"]).content.decode()
    room = Workshop.objects.get()
    assert room.title == TITLE
    assert room.code in page
    assert f"/s/{rooms.current(None, room).sandbox_id}/" in page
    assert "<svg" in page


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        pytest.param({"scenario": "no-such-scenario"}, 422, id="an unknown scenario"),
        pytest.param({"text": "kind: Scenario\n"}, 422, id="a broken file"),
        pytest.param({"text": "- " * 30_000_000}, 413, id="a file that is too long"),
    ],
)
def test_an_invalid_form_opens_no_room(db: None, fields: dict[str, str], status: int) -> None:
    assert Client().post("/workshop/open/", fields).status_code == status
    assert not Workshop.objects.exists()
    assert not Sandbox.objects.exists()


@pytest.mark.parametrize("typed", ["{code}", " {lower} ", "{lower3}-{rest}"])
def test_a_code_is_accepted_in_any_spelling(trainer: Person, typed: str) -> None:
    code = trainer.room.code
    variant = typed.format(code=code, lower=code.lower(), lower3=code[:3].lower(), rest=code[3:])
    assert people.find_room(variant) == trainer.room


def test_joining_asks_for_a_name_and_opens_a_page_with_a_new_sandbox(trainer: Person) -> None:
    browser = Client()
    asked = browser.get("/join/", {"code": trainer.room.code.lower()})
    assert "Your name" in asked.content.decode()
    answer = browser.post("/join/", {"code": trainer.room.code, "name": "Ada"})
    assert answer.status_code == 302
    page = browser.get(answer["Location"]).content.decode()
    assert 'data-takes="1"' in page
    assert browser.post(f"{answer['Location']}take/").status_code == 204
    assert 'title="Your sandbox"' in browser.get(answer["Location"]).content.decode()


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "Enter a name"), ("\u200b\n", "Enter a name"), ("Ada", "“Ada” is here already")],
)
def test_an_invalid_or_taken_name_is_reported_at_its_field(
    trainer: Person, joined: Joined, name: str, message: str
) -> None:
    joined("Ada")
    answer = Client().post("/join/", {"code": trainer.room.code, "name": name})
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert trainer.room.participants.count() == 1


def test_a_wrong_code_says_so(db: None) -> None:
    answer = Client().get("/join/NOPE99/")
    assert answer.status_code == 404
    assert "There is no open room with this code" in answer.content.decode()


def test_each_link_of_a_participant_is_derived_from_their_page_alone(joined: Joined) -> None:
    ada = joined("Ada")
    sandbox = ada.sit()
    token = tokens.seat_token(ada.token, 1)
    assert tokens.role(sandbox, token) == "edit"
    assert tokens.role(sandbox, ada.seat().view_token) == "view"
    assert ada.token not in str(list(Participant.objects.values_list()))


def test_two_pages_of_one_person_make_one_sandbox(joined: Joined) -> None:
    ada = joined("Ada")
    first = ada.sit()
    assert ada.sit() == first
    assert Sandbox.objects.count() == 2  # and the trainer's


def test_frozen_people_can_change_nothing_until_they_are_released(trainer: Person, joined: Joined) -> None:
    ada, late = joined("Ada"), joined("Late")
    sandbox = ada.sit()
    url = workbench(sandbox, tokens.seat_token(ada.token, 1), "do/stage/")
    assert trainer.post("freeze/", on="1").status_code == 204
    refused = Client().post(url)
    assert refused.status_code == 423
    assert "paused the room" in refused.content.decode()
    assert Sandbox.objects.get(pk=late.sit().pk).frozen
    own = trainer.seat().sandbox
    assert own is not None
    assert Client().post(workbench(own, tokens.seat_token(trainer.token, 1), "do/stage/")).status_code == 204
    assert trainer.post("freeze/", on="0").status_code == 204
    assert Client().post(url).status_code == 204


def test_the_api_is_frozen_too(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    url = f"/api/v1/sandboxes/{ada.sit().pk}/{tokens.seat_token(ada.token, 1)}/commands"
    trainer.post("freeze/", on="1")
    answer = Client().post(url, {"kind": "stage"}, content_type="application/json")
    assert answer.status_code == 423


def test_help_is_a_key_that_can_be_revoked_and_works_while_frozen(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    sandbox = ada.sit()
    assert "Help ↗" not in trainer.get().content.decode()
    ada.post("help/", on="1")
    url = workbench(sandbox, ada.now().key)
    assert url in trainer.get().content.decode()
    trainer.post("freeze/", on="1")
    assert Client().post(f"{url}do/stage/").status_code == 204
    assert ada.seat().view_token in Client().get(url).content.decode()
    ada.post("help/", on="0")
    assert Client().post(f"{url}do/stage/").status_code == 404
    assert not Key.objects.exists()


def test_taking_help_back_revokes_the_keys_of_requests_at_the_same_time(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    ada.sit()
    early, late = ada.now(), ada.now()
    rooms.allow_help(early, ada.token, True)
    rooms.allow_help(late, ada.token, True)
    assert Key.objects.count() == 1
    rooms.allow_help(early, ada.token, False)
    assert not Key.objects.exists()
    assert ada.now().key == ""


@pytest.mark.parametrize("part", [people.remove, people.leave])
def test_whoever_leaves_takes_a_key_along_that_was_made_meanwhile(
    trainer: Person, joined: Joined, part: Callable[[Participant], None]
) -> None:
    ada = joined("Ada")
    ada.sit()
    before = ada.now()
    ada.post("help/", on="1")
    part(before)
    assert not Key.objects.exists()


def test_a_key_that_was_taken_back_does_not_come_to_a_new_sandbox(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    ada.sit()
    ada.post("help/", on="1")
    before = ada.now()
    trainer.post("send/", scenario="node-selector")
    ada.post("help/", on="0")
    rooms.take_seat(ada.room, before, ada.token)
    assert not Key.objects.exists()


def test_help_that_cannot_be_given_leaves_the_key_as_it_was(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    sandbox = ada.sit()
    ada.post("help/", on="1")
    key = ada.now().key
    trainer.post("send/", moment="1")
    Sandbox.objects.exclude(pk=sandbox.pk).delete()
    assert ada.post("help/", on="1").status_code == 422
    assert ada.now().key == key
    assert Client().post(workbench(sandbox, key, "do/advance/"), {"seconds": "1"}).status_code == 204


def test_help_goes_along_to_a_sandbox_that_is_sent(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    ada.sit()
    ada.post("help/", on="1")
    trainer.post("send/", moment="1")
    sandbox = ada.sit()
    assert Client().post(workbench(sandbox, ada.now().key, "do/stage/")).status_code == 204


def test_a_past_moment_can_be_sent(trainer: Person, joined: Joined, step: Any) -> None:
    ada = joined("Ada")
    own = trainer.seat().sandbox
    before = Sandbox.objects.get(pk=getattr(own, "pk", None)).head
    step(own)
    step(own)
    trainer.post("send/", moment="1", at=f"{before + 1}.999")
    assert ada.sit().head == before + 1


def test_eyes_here_shows_the_trainers_sandbox_and_keeps_ones_own(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    own = ada.sit()
    trainer.post("eyes/", on="1")
    page = ada.get().content.decode()
    seat = trainer.seat()
    assert f"/s/{seat.sandbox_id}/{seat.view_token}/" in page
    assert f"/s/{own.pk}/" in page
    trainer.post("eyes/", on="0")
    assert f"/s/{seat.sandbox_id}/" not in ada.get().content.decode()


def test_sending_gives_a_new_sandbox_and_leaves_the_earlier_one(trainer: Person, joined: Joined, step: Any) -> None:
    ada, ben = joined("Ada"), joined("Ben")
    first, bens = ada.sit(), ben.sit()
    own = trainer.seat().sandbox
    step(own)
    assert trainer.row is None
    assert ada.row is not None
    trainer.post("send/", moment="1", to=[str(ada.row.pk)])
    second = ada.sit()
    assert second.pk != first.pk
    assert second.head == Sandbox.objects.get(pk=getattr(own, "pk", None)).head
    assert ben.sit() == bens
    assert f"/s/{first.pk}/{tokens.seat_token(ada.token, 1)}/" in ada.get().content.decode()
    step(own)  # A sent sandbox stays as it was when it was sent.
    trainer.post("send/", scenario="node-selector")
    assert ada.seat().number == 3
    assert ben.seat().number == 2


def test_one_step_for_everybody_names_those_who_could_not_make_it(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    nobody = joined("Nobody there")
    before = ada.sit().head
    answer = trainer.post("step/", verb="pod")
    assert (answer.status_code, answer.headers["HX-Retarget"]) == (200, "#notice")
    assert "Nobody there: has no sandbox" in answer.content.decode()
    assert Sandbox.objects.get(pk=ada.sit().pk).head == before + 1
    assert nobody.row is not None
    assert trainer.post("step/", verb="pod", to=[str(nobody.row.pk)]).status_code == 422
    assert trainer.post("step/", verb="run").status_code == 400


def test_a_database_that_fails_in_the_middle_of_a_step_is_told_for_whom(
    trainer: Person, joined: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [joined(name) for name in ("Ada", "Ben", "Cleo", "Dan", "Eve", "Fay")]
    before = [person.sit().head for person in people]
    turns = iter((True, False, True, False, False))

    def execute(sandbox: Sandbox, *rest: Any) -> Any:
        if next(turns):
            return executing.execute(sandbox, *rest)
        raise OperationalError("disk I/O error")

    monkeypatch.setattr(rooms, "execute", execute)
    answer = trainer.post("step/", verb="pod")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert [name for name in ("Ada", "Cleo") if f"{name}:" in text] == []
    assert all(f"{name}: {say('limits.database-busy')}" in text for name in ("Ben", "Dan", "Eve"))
    assert "Fay: was not tried" in text
    now = [Sandbox.objects.get(pk=person.sit().pk).head for person in people]
    assert [after - head for head, after in zip(before, now, strict=True)] == [1, 0, 1, 0, 0, 0]


def test_a_hand_goes_up_and_down(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    ada.post("hand/", on="1")
    assert "hand up" in trainer.get().content.decode()
    ada.post("hand/", on="0")
    assert "hand up" not in trainer.get().content.decode()


@pytest.mark.parametrize(
    ("minutes", "status"), [("5", 204), ("0", 204), ("-1", 422), ("601", 422), ("x", 422), ("nan", 422)]
)
def test_the_timer_takes_minutes(trainer: Person, minutes: str, status: int) -> None:
    assert trainer.post("timer/", minutes=minutes).status_code == status
    ends = Workshop.objects.get().timer_ends
    assert (ends is not None) == (minutes == "5")


def test_a_name_can_be_changed_by_the_trainer(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    joined("Ben")
    assert ada.row is not None
    assert trainer.post("rename/", who=ada.row.pk, name="Ben").status_code == 422
    assert trainer.post("rename/", who=ada.row.pk, name="Countess").status_code == 204
    assert ada.now().name == "Countess"
    assert trainer.post("rename/", who="999", name="x").status_code == 404


def test_a_removed_participant_loses_the_page_and_keeps_the_sandbox(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    sandbox = ada.sit()
    trainer.post("freeze/", on="1")
    assert ada.row is not None
    trainer.post("remove/", who=ada.row.pk)
    assert ada.get().status_code == 404
    reloaded = ada.client.get(ada.url(), headers={"Sec-Fetch-Mode": "navigate"})
    assert (reloaded.status_code, "The trainer removed you" in reloaded.content.decode()) == (404, True)
    assert Client().post(workbench(sandbox, tokens.seat_token(ada.token, 1), "do/stage/")).status_code == 204


def test_a_closed_room_releases_everybody_and_accepts_nothing_more(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    sandbox = ada.sit()
    trainer.post("freeze/", on="1")
    trainer.post("close/")
    assert Client().post(workbench(sandbox, tokens.seat_token(ada.token, 1), "do/stage/")).status_code == 204
    assert ada.post("hand/", on="1").status_code == 410
    assert Client().get(f"/join/{trainer.room.code}/").status_code == 404
    with pytest.raises(Rejected):
        people.join(trainer.room, "Late")
    assert "closed" in ada.get().content.decode()


def test_deleting_a_room_leaves_nothing_of_its_people_but_their_sandboxes(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    sandbox = ada.sit()
    trainer.post("close/")
    assert trainer.post("delete/").status_code == 204
    assert not Workshop.objects.exists()
    assert not Participant.objects.exists()
    assert not Seat.objects.exists()
    assert Sandbox.objects.filter(pk=sandbox.pk).exists()


def test_unused_rooms_are_deleted(trainer: Person, joined: Joined) -> None:
    joined("Ada")
    assert pruning.prune_rooms(14) == 0
    Workshop.objects.update(last_used=timezone.now() - timedelta(days=15))
    trainer.get()  # It was used.
    assert pruning.prune_rooms(14) == 0
    Workshop.objects.update(last_used=timezone.now() - timedelta(days=15))
    assert pruning.prune_rooms(14) == 1
    assert not Participant.objects.exists()


def test_an_unused_room_that_was_paused_leaves_free_sandboxes_without_a_key_of_the_trainer(
    trainer: Person, joined: Joined
) -> None:
    ada = joined("Ada")
    sandbox = ada.sit()
    assert ada.post("help/", on="1").status_code == 204
    trainer.post("freeze/", on="1")
    assert (Key.objects.count(), Sandbox.objects.get(pk=sandbox.pk).frozen) == (1, True)
    Workshop.objects.update(last_used=timezone.now() - timedelta(days=15))
    assert pruning.prune_rooms(14) == 1
    assert (Key.objects.count(), Sandbox.objects.get(pk=sandbox.pk).frozen) == (0, False)


@pytest.mark.parametrize(
    "source",
    [
        {"kind": "scenario", "title": "Old", "slug": "long-gone"},
        {"kind": "copy", "title": "Old", "sandbox": "00000000-0000-0000-0000-000000000000"},
    ],
)
def test_a_deleted_source_is_reported(db: None, source: Any) -> None:
    with pytest.raises(Rejected, match="no longer exists: Old"):
        sources.create(source, tokens.new_token())


POSTS = {
    "trainer": [
        "freeze/", "eyes/", "timer/", "rename/", "remove/", "send/", "step/", "close/", "delete/", "ask/", "predict/",
        "end/", "reveal/", "put-away/",
    ],
    "participant": ["hand/", "help/", "leave/", "answer/"],
}  # fmt: skip


@pytest.mark.parametrize("path", [*POSTS["trainer"], *POSTS["participant"], "take/"])
def test_a_form_sent_to_a_deleted_room_is_refused(trainer: Person, joined: Joined, path: str) -> None:
    ada = joined("Ada")
    rooms.delete(trainer.room)
    for person in (trainer, ada):
        answer = person.client.post(f"/w/00000000-0000-0000-0000-000000000000/{person.token}/{path}")
        assert answer.status_code == 404
        assert "data-notice" in answer.content.decode()
        assert "Your sandboxes stay yours" in answer.content.decode()


def test_a_page_that_sends_its_form_by_script_goes_where_it_leads(trainer: Person) -> None:
    code, by_script = trainer.room.code, {"HX-Request": "true"}
    response = Client().get("/join/", {"code": code.lower()}, headers=by_script)
    assert response["HX-Redirect"] == f"/join/{code}/"
    assert Client().get("/join/", {"code": "NOPE99"}, headers=by_script).status_code == 404
    joined = Client().post("/join/", {"code": code, "name": "Ada"}, headers=by_script)
    assert (joined.status_code, joined["HX-Redirect"][:3]) == (204, "/w/")
    opened = Client().post("/workshop/open/", {"title": "Monday"}, headers=by_script)
    assert Client().get(opened["HX-Redirect"]).status_code == 200


@pytest.mark.parametrize("path", [*POSTS["trainer"], *POSTS["participant"], "take/"])
def test_no_room_changes_by_a_get(trainer: Person, path: str) -> None:
    assert trainer.get(path).status_code == 405


def test_no_page_of_a_room_sets_a_cookie(trainer: Person, joined: Joined) -> None:
    for person in (trainer, joined("Ada")):
        answer = person.get()
        assert not person.client.cookies
        assert answer["Cache-Control"] == "no-store"


def test_the_board_and_the_results_show_everybodys_place_in_the_lesson(db: None) -> None:
    lesson_room, token = rooms.open_room(sources.lesson("three-queues"))
    room = Person(lesson_room, token)
    ada, ben = (
        Person(lesson_room, people.join(lesson_room, name)[1], lesson_room.participants.get(name=name))
        for name in ("Ada", "Ben")
    )
    slow, quick = ada.sit(), ben.sit()
    total = len(shelf.lessons()["three-queues"].lesson.parts)
    Study.objects.filter(sandbox=quick).update(part=total, progress=json.dumps({"done": list(range(total))}))
    progress = {row.name: row.lesson.text for row in board.rows(lesson_room) if row.lesson}
    assert progress["Ada"].startswith(f"part 1 of {total}, 0 of ")
    assert progress["Ben"].startswith("finished, ")
    assert [row.name for row in board.rows(lesson_room, "lesson")] == ["Ada", "Ben"]
    assert [row.name for row in board.rows(lesson_room, "joined")] == ["Ada", "Ben"]
    Study.objects.filter(sandbox=slow).update(slug="gone")
    assert {row.lesson.text for row in board.rows(lesson_room) if row.lesson} == {"part 1", progress["Ben"]}
    assert progress["Ben"] in room.get().content.decode()
    assert f'Ben,,,Three queues,"{progress["Ben"]}",,,0,' in results.results_csv(lesson_room)


def test_no_one_stays_frozen_whose_sandbox_is_created_meanwhile(
    trainer: Person, joined: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    people_ = [joined(name) for name in ("Ada", "Ben", "Carl", "Dora", "Eva")]
    make = sources.create
    meanwhile: list[Callable[[], object]] = []

    def create(*arguments: Any) -> Sandbox:
        sandbox = make(*arguments)
        meanwhile.pop()()
        return sandbox

    monkeypatch.setattr(sources, "create", create)

    def frozen(person: Person, act: Callable[[], object]) -> bool:
        meanwhile.append(act)
        return person.sit().frozen

    def freeze(on: int) -> Callable[[], object]:
        return lambda: trainer.post("freeze/", on=on)

    ada, ben, carl, dora, eva = people_
    assert frozen(ada, freeze(1)), "stopped while it is made"
    assert not frozen(ben, freeze(0)), "let go on while it is made"
    trainer.post("freeze/", on=1)
    assert frozen(carl, lambda: None)
    assert not frozen(dora, lambda: trainer.post("remove/", who=dora.now().pk)), "taken out while it is made"
    assert not frozen(eva, lambda: trainer.post("close/")), "closed while it is made"


def test_a_closed_room_shows_peoples_own_work_and_not_the_last_sent_sandbox(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    ada.sit()
    trainer.post("send/", scenario="nothing-fits")
    assert "data-takes" in ada.get().content.decode()
    trainer.post("close/")
    page = ada.get().content.decode()
    assert "data-takes" not in page
    assert "desk-own" in page


def test_a_step_for_selected_people_names_who_left_and_counts_who_could_not(trainer: Person, joined: Joined) -> None:
    ada = joined("Ada")
    gone = str(ada.now().pk)
    joined("Ben")
    ada.post("leave/")
    answer = trainer.post("step/", verb="stage", to=[gone])
    assert "Those you chose are no longer in the room." in answer.content.decode()
    for number in range(7):
        joined(f"Person {number}")
    assert "; and 3 more" in trainer.post("step/", verb="stage").content.decode()


@pytest.mark.parametrize("who", ["trainer", "participant"])
def test_a_page_that_loads_while_its_room_is_deleted_reports_it_gone(
    trainer: Person, joined: Joined, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    person = trainer if who == "trainer" else joined("Ada")

    def enter(*arguments: Any) -> Any:
        result = access.enter(*arguments)
        rooms.delete(Workshop.objects.get(pk=trainer.room.pk))
        return result

    monkeypatch.setattr(consumers, "enter", enter)
    assert consumers._look(trainer.room.pk, person.token, Board()) is None


def test_a_page_that_is_asked_for_while_its_room_is_deleted_says_so(
    joined: Joined, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = joined("Ada")
    monkeypatch.setattr(access, "_touch", rooms.delete)
    answer = person.get()
    assert (answer.status_code, "it was deleted" in answer.content.decode()) == (404, True)
