from django.apps import AppConfig


class WorkshopConfig(AppConfig):
    name = "sandbox.workshop"
    label = "workshop"
