"""The forms of the Add drawer. They only read text; the API server judges the values, in its own words."""

from sandbox.web.forms.adding import AddForm, Object
from sandbox.web.forms.device_forms import DeviceClaimForm, DeviceClassForm, SliceForm
from sandbox.web.forms.more import BareForm, BudgetForm, ClaimForm, PriorityClassForm
from sandbox.web.forms.node import NodeForm
from sandbox.web.forms.pod import PodForm
from sandbox.web.forms.reading import READERS, fits_form
from sandbox.web.forms.rows import DrawnRow, blanks
from sandbox.web.forms.workload import WorkloadForm

__all__ = ["FORMS", "MORE", "AddForm", "BareForm", "Object", "blank_rows", "fits_form", "form_of"]

MORE: tuple[type[AddForm], ...] = (
    PriorityClassForm,
    BudgetForm,
    ClaimForm,
    SliceForm,
    DeviceClassForm,
    DeviceClaimForm,
)
"""Forms that share a tab."""

ALL: tuple[type[AddForm], ...] = (NodeForm, PodForm, WorkloadForm, *MORE)
FORMS = {form.slug: form for form in ALL}


def blank_rows() -> list[DrawnRow]:
    """Return a blank row of each shape, which the page copies to add a row."""
    rows = [row for form in ALL for field in form.base_fields.values() for row in blanks(field)]
    return list({row.shape.one: row for row in rows}.values())


def form_of(kind: str) -> type[AddForm]:
    """Return the form for objects of a kind; one without fields if the kind has none."""
    return FORMS[READERS[kind][0]] if kind in READERS else BareForm
