import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workshop", "0012_reopening"),
    ]

    operations = [
        migrations.CreateModel(
            name="Assistant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("token_hash", models.CharField(max_length=64)),
                ("seen", models.DateTimeField(null=True)),
                ("revoked", models.BooleanField(default=False)),
                (
                    "workshop",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="assistants", to="workshop.workshop"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("workshop", "number"), name="one_assistant_per_number")
                ],
            },
        ),
    ]
