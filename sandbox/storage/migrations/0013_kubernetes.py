from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox", "0012_shared_texts"),
    ]

    operations = [
        migrations.AddField(
            model_name="sandbox",
            name="kubernetes",
            field=models.CharField(default="v1.34", max_length=20),
        ),
        migrations.AddField(
            model_name="sandbox",
            name="feature_gates",
            field=models.TextField(default="{}"),
        ),
    ]
