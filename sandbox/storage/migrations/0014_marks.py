from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox", "0013_kubernetes"),
    ]

    operations = [
        migrations.AddField(
            model_name="commandrecord",
            name="mark",
            field=models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
    ]
