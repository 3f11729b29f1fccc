import django.db.models.deletion
from django.db import migrations, models

from sandbox.storage.shared_text import SharedText


class Migration(migrations.Migration):
    dependencies = [
        ("workshop", "0011_inquiries"),
    ]

    operations = [
        migrations.AddField(
            model_name="inquiry",
            name="votes_before",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="question",
            name="earlier",
            field=SharedText(blank=True, db_default="", default=""),
        ),
        migrations.AlterField(
            model_name="inquiry",
            name="participant",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="inquiries",
                to="workshop.participant",
            ),
        ),
        migrations.CreateModel(
            name="Sending",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("source", SharedText()),
                ("title", models.CharField(max_length=240)),
                ("gone", models.BooleanField(default=False)),
                ("at", models.DateTimeField(null=True)),
                (
                    "workshop",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="sendings", to="workshop.workshop"
                    ),
                ),
            ],
        ),
    ]
