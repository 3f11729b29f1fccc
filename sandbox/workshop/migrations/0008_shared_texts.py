from django.db import migrations

from sandbox.storage.shared_text import SharedText


class Migration(migrations.Migration):
    dependencies = [("workshop", "0007_answer_turns")]

    operations = [
        # The columns do not change: texts that are in them can still be read.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="answer", name="chosen", field=SharedText(help_text="The chosen choices, as JSON text.")
                ),
                migrations.AlterField(
                    model_name="ownlesson",
                    name="learned",
                    field=SharedText(help_text="The lesson as the engine reads it, as JSON text; see lessons.py."),
                ),
                migrations.AlterField(
                    model_name="ownlesson", name="text", field=SharedText(help_text="The text of the file.")
                ),
                migrations.AlterField(
                    model_name="question", name="choices", field=SharedText(help_text="The choices, as JSON text.")
                ),
                migrations.AlterField(
                    model_name="question",
                    name="prediction",
                    field=SharedText(
                        blank=True, help_text="The prediction, and the number of trace entries before it, as JSON text."
                    ),
                ),
                migrations.AlterField(
                    model_name="question",
                    name="right",
                    field=SharedText(blank=True, help_text="The right choices, as JSON text, or empty."),
                ),
                migrations.AlterField(
                    model_name="question",
                    name="why",
                    field=SharedText(blank=True, help_text="Choice → explanation, as JSON text."),
                ),
                migrations.AlterField(
                    model_name="seat",
                    name="source",
                    field=SharedText(help_text="The source of the sandbox, as JSON text; see sources.py."),
                ),
                migrations.AlterField(
                    model_name="workshop",
                    name="latest",
                    field=SharedText(
                        blank=True, default="", help_text="The source last sent to everybody, as JSON text, or empty."
                    ),
                ),
                migrations.AlterField(
                    model_name="workshop",
                    name="plan",
                    field=SharedText(default="[]", help_text="The planned questions, as JSON text; see files.py."),
                ),
                migrations.AlterField(
                    model_name="workshop",
                    name="source",
                    field=SharedText(help_text="The source for new participants, as JSON text; see sources.py."),
                ),
            ]
        )
    ]
