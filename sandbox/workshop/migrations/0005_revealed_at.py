"""Save when a question was revealed, not only that it was."""

from typing import Any

from django.db import migrations, models


def at_its_end(apps: Any, schema_editor: Any) -> None:
    """Set the time of revealed questions to the time when they were closed: the real one was not saved."""
    apps.get_model("workshop", "Question").objects.filter(revealed=True).update(revealed_at=models.F("over"))


def whether(apps: Any, schema_editor: Any) -> None:
    apps.get_model("workshop", "Question").objects.exclude(revealed_at=None).update(revealed=True)


class Migration(migrations.Migration):
    dependencies = [("workshop", "0004_people")]

    operations = [
        migrations.AddField(
            model_name="question",
            name="revealed_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunPython(at_its_end, whether),
        migrations.RemoveField(model_name="question", name="revealed"),
        migrations.RenameField(model_name="question", old_name="revealed_at", new_name="revealed"),
    ]
