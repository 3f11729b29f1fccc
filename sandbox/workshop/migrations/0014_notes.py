from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workshop", "0013_assistants"),
    ]

    operations = [
        migrations.AddField(
            model_name="participant",
            name="notes",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="participant",
            name="notes_page",
            field=models.CharField(blank=True, db_default="", default="", max_length=40),
        ),
        migrations.AddField(
            model_name="participant",
            name="notes_turn",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
