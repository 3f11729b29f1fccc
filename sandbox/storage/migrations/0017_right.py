from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sandbox", "0016_done")]

    operations = [
        migrations.AddField(
            model_name="guess",
            name="right",
            field=models.BooleanField(null=True),
        ),
    ]
