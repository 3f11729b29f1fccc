"""Store the rules of the scheduling queue with each sandbox."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sandbox", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="sandbox",
            name="queue_rules",
            field=models.CharField(default="v1.34", max_length=20),
        ),
    ]
