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
                ("size", models.PositiveBigIntegerField()),
                ("used", models.DateTimeField()),
            ],
        ),
        # The columns stay as they are. SharedText reads the texts in them unchanged.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="expectation",
                    name="expectation",
                    field=sandbox.storage.shared_text.SharedText(),
                ),
                migrations.AlterField(
                    model_name="guess",
                    name="named",
                    field=sandbox.storage.shared_text.SharedText(),
                ),
                migrations.AlterField(
                    model_name="guess",
                    name="points",
                    field=sandbox.storage.shared_text.SharedText(blank=True, default=""),
                ),
                migrations.AlterField(
                    model_name="guess",
                    name="question",
                    field=sandbox.storage.shared_text.SharedText(),
                ),
                migrations.AlterField(
                    model_name="sandbox",
                    name="configuration",
                    field=sandbox.storage.shared_text.SharedText(),
                ),
                migrations.AlterField(
                    model_name="sandbox",
                    name="story",
                    field=sandbox.storage.shared_text.SharedText(
                        blank=True,
                        default="",
                    ),
                ),
                migrations.AlterField(
                    model_name="study",
                    name="text",
                    field=sandbox.storage.shared_text.SharedText(blank=True, default=""),
                ),
            ]
        ),
    ]
