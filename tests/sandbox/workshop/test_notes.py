"""A participant's own notes: kept with their link, on several devices, and a file to take along."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sandbox.workshop import notes
from tests.sandbox.workshop.conftest import Person

pytestmark = pytest.mark.django_db
Joined = Callable[..., Person]


def save(person: Person, text: str, page: str, after: int) -> tuple[int, str]:
    answer = person.post("notes/", text=text, page=page, after=str(after))
    return answer.status_code, answer.content.decode()


def test_notes_stay_with_the_link_and_go_with_the_person(joined: Joined, trainer: Person) -> None:
    ada = joined("Ada")
    assert save(ada, "Waiting doubles.\r\n<b>10 s</b>", "laptop", 0) == (200, "1")
    assert 'data-turn="1">Waiting doubles.\n&lt;b&gt;10 s&lt;/b&gt;</div>' in ada.get().content.decode()
    assert "Waiting doubles" not in trainer.get().content.decode()
    assert "Waiting doubles" not in trainer.get("results.csv").content.decode()
    file = ada.get("notes.txt")
    assert file["Content-Disposition"] == 'attachment; filename="notes.txt"'
    assert file.content.decode().startswith(f"{trainer.room.title}\n")
    assert file.content.decode().endswith(", Ada\n\nWaiting doubles.\n<b>10 s</b>\n")
    trainer.post("close/")
    assert save(ada, "Waiting doubles, up to 10 s.", "laptop", 1) == (200, "2"), "also after the room was closed"


@pytest.mark.parametrize(
    ("saves", "kept"),
    [
        pytest.param([("laptop", 0), ("phone", 1)], "1", id="a page that has read them replaces them"),
        pytest.param([("laptop", 0), ("phone", 0)], "0", id="a page that has not read them does not"),
        pytest.param([("laptop", 0), ("laptop", 0)], "1", id="a page whose answer was lost saves again"),
        pytest.param([("laptop", 0), ("phone", 1), ("laptop", 1)], "1", id="a page that is behind does not"),
        pytest.param([("", 0), ("", 0)], "0", id="pages without a name are different ones"),
    ],
)
def test_nothing_is_overwritten_that_nobody_has_read(joined: Joined, saves: list[tuple[str, int]], kept: str) -> None:
    ada = joined("Ada")
    statuses = [save(ada, str(number), page, after)[0] for number, (page, after) in enumerate(saves)]
    assert ada.now().notes == kept
    assert statuses == [200 if number <= int(kept) else 409 for number in range(len(saves))]


def test_notes_that_are_too_long_are_refused_at_their_field(joined: Joined) -> None:
    ada = joined("Ada")
    status, text = save(ada, "x" * (notes.LONGEST + 1), "laptop", 0)
    assert (status, 'data-field="text"' in text) == (422, True)
    assert ada.now().notes == ""
