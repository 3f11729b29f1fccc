import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox", "0015_turns"),
    ]

    operations = [
        migrations.CreateModel(
            name="Done",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=100)),
                ("digest", models.CharField(max_length=64)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "sandbox",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="done", to="sandbox.sandbox"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "done",
                "constraints": [models.UniqueConstraint(fields=("sandbox", "key"), name="once_per_sandbox")],
            },
        ),
    ]
