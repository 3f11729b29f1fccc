"""The forms of the Add drawer. They read text; whether a value is right the API server says, in its own words."""

from sandbox.web.forms.adding import AddForm, Object
from sandbox.web.forms.more import BareForm, BudgetForm, ClaimForm, PriorityClassForm
from sandbox.web.forms.node import NodeForm
from sandbox.web.forms.pod import PodForm
from sandbox.web.forms.reading import READERS, has_room
from sandbox.web.forms.rows import DrawnRow, blanks
from sandbox.web.forms.workload import WorkloadForm

__all__ = ["FORMS", "MORE", "AddForm", "BareForm", "Object", "blank_rows", "form_of", "has_room"]

MORE: tuple[type[AddForm], ...] = (PriorityClassForm, BudgetForm, ClaimForm)
"""Those that share a tab."""

ALL: tuple[type[AddForm], ...] = (NodeForm, PodForm, WorkloadForm, *MORE)
FORMS = {form.slug: form for form in ALL}


def blank_rows() -> list[DrawnRow]:
    """A row of each shape as it begins: what the page copies when one is added."""
    rows = [row for form in ALL for field in form.base_fields.values() for row in blanks(field)]
    return list({row.shape.one: row for row in rows}.values())


def form_of(kind: str) -> type[AddForm]:
    """The form that shows objects of a kind; one without fields where there is none."""
    return FORMS[READERS[kind][0]] if kind in READERS else BareForm
