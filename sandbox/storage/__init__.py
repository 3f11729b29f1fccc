"""What the database holds: models, migrations, the log as records, SQL for every command, tokens."""
