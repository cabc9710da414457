"""The fonts that come with the site have the characters that the site's own words use."""

from __future__ import annotations

import re
from pathlib import Path

from tests.fonts import FONTS, RANGES, unicode_range

ROOT = Path(__file__).resolve().parents[2]
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
