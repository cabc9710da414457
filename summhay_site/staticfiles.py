"""Static files under hashed names; the imports between ES modules are hashed too."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Compressed, content-hashed files that browsers may keep for a year."""

    support_js_module_import_aggregation = True
