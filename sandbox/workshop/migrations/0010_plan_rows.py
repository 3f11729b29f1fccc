from django.db import migrations, models

from sandbox.storage.shared_text import SharedText


class Migration(migrations.Migration):
    dependencies = [("workshop", "0009_help_texts")]

    operations = [
        migrations.AddField(
            model_name="workshop",
            name="rows",
            field=SharedText(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="workshop",
            name="plan_state",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
