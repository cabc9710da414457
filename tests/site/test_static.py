"""Static files as production serves them, and fonts that have the characters of the site's own words."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.test import Client

from tests.fonts import FONTS, RANGES, unicode_range

ROOT = Path(__file__).resolve().parents[2]


def test_everything_can_be_collected_and_pages_name_hashed_files(
    collected: Path, settings, client: Client, db: None
) -> None:
    settings.STATIC_ROOT = collected
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "summhay_site.serving.staticfiles.HashedStorage"},
    }
    url = staticfiles_storage.url("css/site.css")
    assert url != "/static/css/site.css"
    assert (collected / url.removeprefix("/static/")).exists()
    assert url in client.get("/login/").content.decode()
    drawing = staticfiles_storage.url("vega/vega-embed.js")
    assert drawing != "/static/vega/vega-embed.js"
    assert b"as default}" in (collected / drawing.removeprefix("/static/")).read_bytes()


def test_collecting_makes_the_data_folder_for_its_owner_only(
    tmp_path: Path, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    settings.STATIC_ROOT = settings.DATA_DIR / "static"
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda _code: "export default 1;")
    call_command("collectstatic", interactive=False, verbosity=0)
    assert (settings.STATIC_ROOT / "css" / "site.css").exists()
    assert settings.DATA_DIR.stat().st_mode & 0o777 == 0o700


def test_a_fresh_checkout_can_be_looked_at_with_runserver_before_anything_was_collected(tmp_path: Path) -> None:
    program = (
        "import sys; sys.argv = ['manage.py', sys.argv[1]];"  # what `static` asks, without loading the apps
        "from django.contrib.staticfiles.storage import staticfiles_storage;"
        "print(staticfiles_storage.url('css/site.css'))"
    )
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "summhay_site.settings"}

    def ask(command: str) -> subprocess.CompletedProcess[str]:
        called = [sys.executable, "-c", program, command]
        return subprocess.run(called, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    assert ask("runserver").stdout.strip() == "/static/css/site.css"
    assert finders.find("vega/vega-embed.js") is not None
    assert finders.find("vega/other.js") is None
    assert "Missing staticfiles manifest entry" in ask("check").stderr
    (tmp_path / "static").mkdir(exist_ok=True)
    collected = {"version": "1.1", "paths": {"css/site.css": "css/site.55e609.css"}, "hash": ""}
    (tmp_path / "static" / "staticfiles.json").write_text(json.dumps(collected))
    assert ask("runserver").stdout.strip() == "/static/css/site.55e609.css"


# Signs that hardly any font has: the system's stands for them.
ELSEWHERE = set("⁃⏎▁⚑✎؟。！：？")


def test_the_sites_own_words_are_written_with_its_own_fonts() -> None:
    paths = [*ROOT.glob("templates/**/*.html"), *ROOT.glob("locale/**/*.po"), *ROOT.glob("static/**/*.css")]
    paths += [*ROOT.glob("extensions/*/templates/**/*.html"), *ROOT.glob("extensions/*/static/**/*.css")]
    used = {letter for path in paths for letter in path.read_text() if letter > " "}
    missing = {letter for letter in used if not any(low <= ord(letter) <= high for low, high in RANGES)}
    assert missing <= ELSEWHERE


def test_each_font_is_named_with_its_range_and_its_licence_is_beside_it() -> None:
    sheet = (ROOT / "static/css/tokens.css").read_text()
    for name, family, _source, _limits in FONTS:
        face = next(one for one in re.findall(r"@font-face {[^}]+}", sheet) if f"/{name}.woff2" in one)
        assert f'"{family}"' in face
        assert f"unicode-range: {unicode_range()};" in face
        assert "font-display: swap" in face
        assert (ROOT / f"static/fonts/{name}.woff2").stat().st_size < 70 * 1024
        assert "SIL OPEN FONT LICENSE" in (ROOT / f"static/fonts/OFL-{name.split('-')[1]}.txt").read_text()
