from django.db import migrations

from sandbox.storage.shared_text import SharedText


class Migration(migrations.Migration):
    dependencies = [("workshop", "0007_answer_turns")]

    operations = [
        # The columns do not change: texts that are in them can still be read.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(model_name="answer", name="chosen", field=SharedText()),
                migrations.AlterField(
                    model_name="ownlesson",
                    name="learned",
                    field=SharedText(),
                ),
                migrations.AlterField(model_name="ownlesson", name="text", field=SharedText()),
                migrations.AlterField(model_name="question", name="choices", field=SharedText()),
                migrations.AlterField(
                    model_name="question",
                    name="prediction",
                    field=SharedText(blank=True),
                ),
                migrations.AlterField(
                    model_name="question",
                    name="right",
                    field=SharedText(blank=True),
                ),
                migrations.AlterField(
                    model_name="question",
                    name="why",
                    field=SharedText(blank=True),
                ),
                migrations.AlterField(
                    model_name="seat",
                    name="source",
                    field=SharedText(),
                ),
                migrations.AlterField(
                    model_name="workshop",
                    name="latest",
                    field=SharedText(blank=True, default=""),
                ),
                migrations.AlterField(
                    model_name="workshop",
                    name="plan",
                    field=SharedText(default="[]"),
                ),
                migrations.AlterField(
                    model_name="workshop",
                    name="source",
                    field=SharedText(),
                ),
            ]
        )
    ]
