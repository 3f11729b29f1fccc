"""Change nothing: help texts are not in the database, and earlier migrations have the present ones.

The file stays for databases that have recorded this migration.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("workshop", "0008_shared_texts")]
