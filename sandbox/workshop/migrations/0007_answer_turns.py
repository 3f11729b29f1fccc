"""From which page an answer came, and which of that page's sendings it was."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workshop", "0006_own_lessons"),
    ]

    operations = [
        migrations.AddField(
            model_name="answer",
            name="page",
            field=models.CharField(
                blank=True, default="", help_text="The open page that it was sent from.", max_length=40
            ),
        ),
        migrations.AddField(
            model_name="answer",
            name="turn",
            field=models.PositiveIntegerField(default=0, help_text="Which sending of that page it was; 0: not known."),
        ),
    ]
