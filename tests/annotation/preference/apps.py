"""The app, which registers its kind."""

from importlib import import_module

from django.apps import AppConfig


class PreferenceConfig(AppConfig):
    name = "tests.annotation.preference"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        import_module(f"{self.name}.kind")
