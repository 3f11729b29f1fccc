"""The forms for devices: what nodes offer, classes, and what pods claim."""

from __future__ import annotations

from django import forms

from sandbox.web.forms import shapes
from sandbox.web.forms.adding import AddForm
from sandbox.web.forms.devices import CLAIM_KINDS, device_claim, device_class, resource_slice, with_kinds
from sandbox.web.forms.fields import namespace, text
from sandbox.web.forms.manifests import Manifest
from sandbox.web.forms.rows import Rows
from sandbox.web.presets.fields import DEVICE_CLAIMS, DEVICE_CLASSES, DEVICES
from sandbox.words.say import say


class SliceForm(AddForm):
    slug, short, title, template, kind = "devices", "rs", "ResourceSlice", "device_form", "ResourceSlice"
    filled_in = DEVICES
    make = staticmethod(resource_slice)
    places = (
        (r"metadata\.name", "name"),
        (r"spec\.driver", "driver"),
        (r"spec\.devices(\[(?P<row>\d+)\](\.(?P<cell>\w+))?)?", "devices"),
        (r"spec", "node"),
    )

    name = text("forms.name", "forms.slice-name-hint", "node-1-gpus")
    node = text("forms.slice-node", "forms.slice-node-hint", example="node-1")
    driver = text("forms.driver", "forms.driver-hint", "gpu.example.com")
    devices = Rows("forms.devices", "forms.devices-hint", shapes.DEVICE)

    def manifest_for(self, now: Manifest) -> Manifest:
        manifest = self.manifest()
        spec, existing = manifest["spec"], (now.get("spec") or {}).get("devices") or []
        if "devices" not in spec:
            return manifest
        return manifest | {"spec": spec | {"devices": with_kinds(spec["devices"], existing)}}


class DeviceClassForm(AddForm):
    slug, short, title, template, kind = "device-class", "dc", "DeviceClass", "device_form", "DeviceClass"
    filled_in = DEVICE_CLASSES
    make = staticmethod(device_class)
    places = (
        (r"metadata\.name", "name"),
        (r"spec\.selectors(\[(?P<row>\d+)\](\.cel)?(\.(?P<cell>\w+))?)?", "expressions"),
    )

    name = text("forms.name", "forms.device-class-name-hint", "gpu")
    expressions = Rows("forms.expressions", "forms.expressions-hint", shapes.DEVICE_EXPRESSION)


class DeviceClaimForm(AddForm):
    slug, short, title, template, kind = "device-claim", "dm", "ResourceClaim", "device_form", "ResourceClaim"
    filled_in = DEVICE_CLAIMS
    make = staticmethod(device_claim)
    places = (
        (r"metadata\.namespace|namespaces ", "namespace"),
        (r"metadata\.name", "name"),
        (r"spec(\.spec)?\.devices\.constraints", "match_attribute"),
        (
            r"spec(\.spec)?\.devices\.requests"
            r"(\[(?P<row>\d+)\](\.exactly)?(\.selectors\[\d+\]\.cel)?(\.(?P<cell>\w+))?)?",
            "requests",
        ),
    )

    claim_kind = forms.ChoiceField(
        label=say("forms.kind"),
        help_text=say("forms.device-claim-kind-hint"),
        choices=[(kind, kind) for kind in CLAIM_KINDS],
        initial=CLAIM_KINDS[0],
    )
    name = text("forms.name", "forms.device-claim-name-hint", "one-gpu")
    namespace = namespace("forms.device-claim-namespace-hint")
    requests = Rows("forms.device-requests", "forms.device-requests-hint", shapes.DEVICE_REQUEST)
    match_attribute = text("forms.match-attribute", "forms.match-attribute-hint", example="gpu.example.com/model")
