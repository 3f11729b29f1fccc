"""URLs of the site. Everything below ``s/<id>/<token>/`` is a capability: who knows the URL may use it."""

from django.urls import include, path

from sandbox.api import routes
from sandbox.views import (
    adding,
    commands,
    compare,
    completing,
    configuration,
    editing,
    evictions,
    faults,
    leader,
    metrics,
    moments,
    nodes,
    pages,
    reading,
    steps,
    workloads,
)

workbench_patterns = [
    path("", pages.workbench, name="workbench"),
    path("do/<str:verb>/", commands.do, name="do"),
    path("delete/", commands.delete, name="delete"),
    path("cordon/", commands.cordon, name="cordon"),
    path("faults/", faults.form, name="faults"),
    path("break/", faults.set_fault, name="break"),
    path("allow/", faults.allow, name="allow"),
    path("apply/", adding.apply, name="apply"),
    path("check/", adding.check, name="check"),
    path("configuration/", configuration.given, name="configuration"),
    path("configure/", configuration.configure, name="configure"),
    path("controls/", configuration.controls, name="controls"),
    path("add/<str:kind>/", adding.add, name="add"),
    path("preview/<str:kind>/", adding.preview, name="preview"),
    path("label/", editing.label, name="label"),
    path("ungate/", editing.ungate, name="ungate"),
    path("resize/", editing.resize, name="resize"),
    path("edit/<str:kind>/", editing.edit, name="edit"),
    path("edit/<str:kind>/form/", editing.pane, name="edit"),
    path("edit/<str:kind>/preview/", editing.preview, name="edit"),
    path("panel/<str:panel_id>/", reading.panel, name="panel"),
    path("yaml/<str:kind>/", reading.manifest, name="yaml"),
    path("find/", reading.find, name="find"),
    path("offers/", completing.offers, name="offers"),
    path("admission/<str:kind>/", reading.admission, name="admission"),
    path("metrics", metrics.metrics, name="metrics"),
    path("dump", reading.dump, name="dump"),
    *workloads.urlpatterns,
    *nodes.urlpatterns,
    *evictions.urlpatterns,
    *leader.urlpatterns,
    *steps.urlpatterns,
    *moments.urlpatterns,
]
handler400 = "sandbox.middleware.refused"
urlpatterns = [
    path("", pages.landing, name="landing"),
    path("new/", pages.create, name="create"),
    path("compare/", compare.compare, name="compare"),
    path("api/v1/", routes.api.urls),
    path("schema/<str:digest>/", completing.schema, name="schema"),
    path("s/<uuid:sandbox_id>/<str:token>/", include(workbench_patterns)),
]
