from django.apps import AppConfig


class StorageConfig(AppConfig):
    name = "sandbox.storage"
    # In the names of its tables and in the history of migrations.
    label = "sandbox"
