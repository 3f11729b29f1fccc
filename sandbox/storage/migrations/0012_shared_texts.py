from django.db import migrations, models

import sandbox.storage.shared_text


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox", "0011_priority_numbers"),
    ]

    operations = [
        migrations.CreateModel(
            name="Text",
            fields=[
                ("key", models.CharField(max_length=71, primary_key=True, serialize=False)),
                ("text", models.TextField()),
                ("size", models.PositiveBigIntegerField(help_text="In bytes.")),
                ("used", models.DateTimeField(help_text="When it was last stored.")),
            ],
        ),
        # The columns stay as they are. SharedText reads the texts in them unchanged.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="expectation",
                    name="expectation",
                    field=sandbox.storage.shared_text.SharedText(help_text="As in a scenario, as JSON text."),
                ),
                migrations.AlterField(
                    model_name="guess",
                    name="named",
                    field=sandbox.storage.shared_text.SharedText(
                        help_text="The choices that were named, as JSON text; null = looked without guessing."
                    ),
                ),
                migrations.AlterField(
                    model_name="guess",
                    name="points",
                    field=sandbox.storage.shared_text.SharedText(
                        blank=True, default="", help_text="The answer point by point, where it was known at once."
                    ),
                ),
                migrations.AlterField(
                    model_name="guess",
                    name="question",
                    field=sandbox.storage.shared_text.SharedText(help_text="As JSON text."),
                ),
                migrations.AlterField(
                    model_name="sandbox",
                    name="configuration",
                    field=sandbox.storage.shared_text.SharedText(
                        help_text="KubeSchedulerConfiguration as JSON text, or null."
                    ),
                ),
                migrations.AlterField(
                    model_name="sandbox",
                    name="story",
                    field=sandbox.storage.shared_text.SharedText(
                        blank=True,
                        default="",
                        help_text="The scenario that somebody brought, without its setup, as JSON text, or empty.",
                    ),
                ),
                migrations.AlterField(
                    model_name="study",
                    name="text",
                    field=sandbox.storage.shared_text.SharedText(
                        blank=True, default="", help_text="Of the file that somebody brought, or empty."
                    ),
                ),
            ]
        ),
    ]
