"""Static files under hashed names; the imports between our ES modules are hashed too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Compressed, content-hashed files that browsers may keep for a year."""

    support_js_module_import_aggregation = True

    def url_converter(self, name: str, hashed_files: Any, template: str | None = None) -> Callable[[Any], str]:
        """Leave the scripts of packages as they are: some name, in comments, modules that do not exist."""
        if name.endswith(".js") and not name.startswith("js/"):
            return lambda match: str(match[0])
        converter: Callable[[Any], str] = super().url_converter(name, hashed_files, template)
        return converter
