"""Make the fonts of `static/fonts` anew from their packages.

Run as `python -m tests.fonts FOLDER`, where FOLDER holds the unpacked wheels fontpkg-source-sans-3 3.52 and
fontpkg-source-serif-4 4.4, with fonttools and brotli installed; the site needs none of them. The fonts are cut to
`RANGES` and to the weights in use, and renamed: “Source” is reserved for the unchanged fonts by their licence.
"""

import shutil
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RANGES = (
    (0x20, 0x7E), (0xA0, 0x17F), (0x192, 0x192), (0x218, 0x21B), (0x2C6, 0x2C7), (0x2D8, 0x2DD), (0x300, 0x304),
    (0x308, 0x308), (0x30A, 0x30C), (0x327, 0x328), (0x391, 0x3C9), (0x1E9E, 0x1E9E), (0x2010, 0x2027),
    (0x202F, 0x2044), (0x2070, 0x209C), (0x20AC, 0x20AC), (0x2116, 0x2122), (0x2190, 0x2193), (0x2200, 0x2265),
    (0x25A0, 0x25E6), (0x2713, 0x2717),
)  # fmt: skip
FEATURES = ["ccmp", "locl", "mark", "mkmk", "kern", "liga", "case", "pnum", "tnum", "lnum", "sups", "subs"]
SANS, SERIF = "fontpkg_source_sans_3/files/SourceSans3", "fontpkg_source_serif_4/files/SourceSerif4"
FONTS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("haystack-sans", "Haystack Sans", f"{SANS}[wght].ttf", {"wght": (400, 700)}),
    ("haystack-serif", "Haystack Serif", f"{SERIF}[opsz,wght].ttf", {"wght": (400, 700), "opsz": 14}),
    ("haystack-serif-italic", "Haystack Serif", f"{SERIF}-Italic[opsz,wght].ttf", {"wght": 400, "opsz": 14}),
)
LICENCES = {"sans": "fontpkg_source_sans_3/LICENSE", "serif": "fontpkg_source_serif_4/LICENSE"}


def unicode_range() -> str:
    """`RANGES` as the value of `unicode-range` in CSS."""
    return ", ".join(f"U+{low:X}" if low == high else f"U+{low:X}-{high:X}" for low, high in RANGES)


def make(source: Path, target: Path, family: str, limits: dict[str, Any]) -> None:
    """Write one font as woff2: instanced, cut and renamed."""
    from fontTools import subset
    from fontTools.ttLib import TTFont
    from fontTools.varLib import instancer

    whole = BytesIO()
    instancer.instantiateVariableFont(TTFont(source), limits).save(whole)
    font = TTFont(whole)
    options = subset.Options(
        flavor="woff2", layout_features=FEATURES, name_IDs=[0, 1, 2, 4, 5, 6, 13, 14], hinting=False
    )
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[code for low, high in RANGES for code in range(low, high + 1)])
    cutter.subset(font)
    style = "Italic" if "Italic" in source.name else "Regular"
    names = {1: family, 2: style, 4: f"{family} {style}", 6: f"{family.replace(' ', '')}-{style}"}
    for name in font["name"].names:
        if name.nameID in names:
            name.string = names[name.nameID]
    subset.save_font(font, str(target), options)


def main(packages: Path) -> None:
    """Make all fonts and copy their licences."""
    folder = ROOT / "static/fonts"
    folder.mkdir(exist_ok=True)
    for name, family, source, limits in FONTS:
        make(packages / source, folder / f"{name}.woff2", family, limits)
    for name, licence in LICENCES.items():
        shutil.copyfile(packages / licence, folder / f"OFL-{name}.txt")
    print(unicode_range())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
