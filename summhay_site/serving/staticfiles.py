"""Static files under hashed names, the imports between our ES modules too; Vega out of its Python package."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from benchmarks.engine.data_folder import data_folder


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Compressed, content-hashed files that browsers may keep for a year."""

    support_js_module_import_aggregation = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known: dict[tuple[str | None, bool], str] = {}

    def url(self, name: str | None, force: bool = False) -> str:
        """As in Django, worked out once for each name: the names are read at the start and stay."""
        if (name, force) not in self._known:
            self._known[name, force] = super().url(name, force)
        return self._known[name, force]

    def url_converter(self, name: str, hashed_files: Any, template: str | None = None) -> Callable[[Any], str]:
        """Leave the scripts of packages as they are: some name, in comments, modules that do not exist."""
        if name.endswith(".js") and not name.startswith("js/"):
            return lambda match: str(match[0])
        converter: Callable[[Any], str] = super().url_converter(name, hashed_files, template)
        return converter


class VegaFinder(BaseFinder):
    """Finds Vega, Vega-Lite and Vega-Embed as one module, which vl-convert brings along.

    The script is written once for each version of the package, since making it takes a second.
    """

    name = "vega/vega-embed.js"

    def find(self, path: str, find_all: bool = False, **_more: Any) -> Any:
        """The path of the script on disk; nothing for any other name."""
        places = [str(_vega_folder() / self.name)] if path == self.name else []
        return places if find_all or not places else places[0]

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        yield self.name, FileSystemStorage(location=_vega_folder())


def _vega_folder() -> Path:
    folder = data_folder(f"vega-{version('vl-convert-python')}")
    script = folder / VegaFinder.name
    if not script.exists():
        import vl_convert

        script.parent.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=script.parent, delete=False) as file:
            file.write(vl_convert.javascript_bundle("export default vegaEmbed;"))
        os.chmod(file.name, 0o644)
        os.replace(file.name, script)
    return folder
