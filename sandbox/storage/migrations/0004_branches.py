"""Save the timeline that somebody leaves by going back as a branch."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox", "0003_log_bytes"),
    ]

    operations = [
        migrations.CreateModel(
            name="Branch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "base",
                    models.BigIntegerField(),
                ),
                ("first", models.PositiveIntegerField()),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name_plural": "branches",
            },
        ),
        migrations.RemoveConstraint(
            model_name="commandrecord",
            name="one_command_per_place",
        ),
        migrations.AddField(
            model_name="branch",
            name="sandbox",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="branches", to="sandbox.sandbox"
            ),
        ),
        migrations.AddField(
            model_name="commandrecord",
            name="branch",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.CASCADE, related_name="records", to="sandbox.branch"
            ),
        ),
        migrations.AddConstraint(
            model_name="commandrecord",
            constraint=models.UniqueConstraint(
                condition=models.Q(("branch", None)), fields=("sandbox", "n"), name="one_command_per_place"
            ),
        ),
        migrations.AddConstraint(
            model_name="commandrecord",
            constraint=models.UniqueConstraint(fields=("branch", "n"), name="one_command_per_place_of_a_branch"),
        ),
    ]
