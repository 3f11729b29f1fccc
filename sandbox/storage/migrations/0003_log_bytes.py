"""Store the length of each sandbox's log, so that logs can be limited one by one and in total."""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce, Length


def measure(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    records = apps.get_model("sandbox", "CommandRecord").objects.filter(sandbox=OuterRef("pk"))
    lengths = records.order_by().values("sandbox").annotate(total=Sum(Length("command"))).values("total")
    apps.get_model("sandbox", "Sandbox").objects.update(log_bytes=Coalesce(Subquery(lengths), 0))


class Migration(migrations.Migration):
    dependencies = [("sandbox", "0002_queue_rules")]

    operations = [
        migrations.AddField(
            model_name="sandbox",
            name="log_bytes",
            field=models.PositiveBigIntegerField(default=0),
        ),
        migrations.RunPython(measure, migrations.RunPython.noop),
    ]
