from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox", "0014_marks"),
    ]

    operations = [
        migrations.AddField(
            model_name="sandbox",
            name="turns",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
