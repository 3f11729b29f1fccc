import django.db.models.deletion
from django.db import migrations, models

from sandbox.storage.shared_text import SharedText


class Migration(migrations.Migration):
    dependencies = [("workshop", "0010_plan_rows")]

    operations = [
        migrations.AddField(
            model_name="workshop",
            name="inquiries_shown",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="question",
            name="shown",
            field=SharedText(blank=True, db_default="", default=""),
        ),
        migrations.CreateModel(
            name="Inquiry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.CharField(max_length=200)),
                ("asked", models.DateTimeField(auto_now_add=True)),
                ("answered", models.DateTimeField(null=True)),
                ("hidden", models.BooleanField(default=False)),
                (
                    "participant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="inquiries",
                        to="workshop.participant",
                    ),
                ),
                ("voters", models.ManyToManyField(related_name="votes", to="workshop.participant")),
                (
                    "workshop",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="inquiries", to="workshop.workshop"
                    ),
                ),
            ],
            options={"verbose_name_plural": "inquiries"},
        ),
    ]
