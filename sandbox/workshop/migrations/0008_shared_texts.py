from django.db import migrations

import sandbox.storage.shared_text


class Migration(migrations.Migration):
    dependencies = [
        ("workshop", "0007_answer_turns"),
    ]

    operations = [
        # The columns do not change: texts that are in them can still be read.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="answer",
                    name="chosen",
                    field=sandbox.storage.shared_text.SharedText(help_text="As JSON text."),
                ),
                migrations.AlterField(
                    model_name="ownlesson",
                    name="learned",
                    field=sandbox.storage.shared_text.SharedText(
                        help_text="What a sandbox is made of, as JSON text; see lessons.py."
                    ),
                ),
                migrations.AlterField(
                    model_name="ownlesson",
                    name="text",
                    field=sandbox.storage.shared_text.SharedText(help_text="Of the file."),
                ),
                migrations.AlterField(
                    model_name="question",
                    name="choices",
                    field=sandbox.storage.shared_text.SharedText(help_text="What can be answered, as JSON text."),
                ),
                migrations.AlterField(
                    model_name="question",
                    name="prediction",
                    field=sandbox.storage.shared_text.SharedText(
                        blank=True,
                        help_text="What the scheduler is asked, and after how many entries of its trace, as JSON text.",
                    ),
                ),
                migrations.AlterField(
                    model_name="question",
                    name="right",
                    field=sandbox.storage.shared_text.SharedText(
                        blank=True, help_text="The right choices, as JSON text; empty: not told."
                    ),
                ),
                migrations.AlterField(
                    model_name="question",
                    name="why",
                    field=sandbox.storage.shared_text.SharedText(
                        blank=True, help_text="What there is to say of a choice, as JSON text."
                    ),
                ),
                migrations.AlterField(
                    model_name="seat",
                    name="source",
                    field=sandbox.storage.shared_text.SharedText(
                        help_text="What it is made from, as JSON text; see sources.py."
                    ),
                ),
                migrations.AlterField(
                    model_name="workshop",
                    name="latest",
                    field=sandbox.storage.shared_text.SharedText(
                        blank=True, default="", help_text="What was sent to everybody last, likewise, or empty."
                    ),
                ),
                migrations.AlterField(
                    model_name="workshop",
                    name="plan",
                    field=sandbox.storage.shared_text.SharedText(
                        default="[]", help_text="Questions to be put, as JSON text; see files.py."
                    ),
                ),
                migrations.AlterField(
                    model_name="workshop",
                    name="source",
                    field=sandbox.storage.shared_text.SharedText(
                        help_text="What newcomers get, as JSON text; see sources.py."
                    ),
                ),
            ]
        ),
    ]
