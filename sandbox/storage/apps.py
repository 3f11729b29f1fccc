from django.apps import AppConfig


class StorageConfig(AppConfig):
    name = "sandbox.storage"
    # The tables and the migration history use this label.
    label = "sandbox"
