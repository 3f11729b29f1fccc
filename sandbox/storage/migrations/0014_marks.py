from django.db import migrations, models

TABLE = "sandbox_commandrecord"


class Migration(migrations.Migration):
    dependencies = [
        ("sandbox", "0013_kubernetes"),
    ]

    operations = [
        # In SQLite Django would copy the table, which takes long, and forgets the keys of deleted records.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f"ALTER TABLE {TABLE} ADD COLUMN mark varchar(200) DEFAULT '' NOT NULL",
                    f"ALTER TABLE {TABLE} DROP COLUMN mark",
                )
            ],
            state_operations=[
                migrations.AddField(
                    model_name="commandrecord",
                    name="mark",
                    field=models.CharField(blank=True, db_default="", default="", max_length=200),
                ),
            ],
        ),
    ]
