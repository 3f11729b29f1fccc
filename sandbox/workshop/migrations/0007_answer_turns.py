"""Save the browser of an answer, and the number of the answer from that browser."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workshop", "0006_own_lessons")]

    operations = [
        migrations.AddField(
            model_name="answer",
            name="page",
            field=models.CharField(
                blank=True,
                default="",
                max_length=40,
            ),
        ),
        migrations.AddField(
            model_name="answer",
            name="turn",
            field=models.PositiveIntegerField(default=0),
        ),
    ]
