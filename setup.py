"""Contents of a wheel; everything else that describes the project is in pyproject.toml.

`templates/`, `static/` and `docs/` stand at the top of a checkout. A wheel carries them as
`summhay_site/assets/…`, where `settings.py` finds them.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import find_packages, setup

CODE = find_packages(include=["summhay_site*", "annotation*", "benchmarks*", "extensions*"])
DATA = ("csv", "json", "jsonl", "md", "mo", "toml")
ASSETS = {f"summhay_site.assets.{name}": name for name in ("templates", "static", "locale")}
DOCS = {"summhay_site.assets.docs": "docs"}  # its texts: the site shows some of them as help
if missing := [name for name in ASSETS.values() if not Path(name).is_dir()]:
    raise SystemExit(f"not beside setup.py, but part of the wheel: {', '.join(missing)}")

setup(
    packages=[*CODE, *ASSETS, *DOCS],
    package_dir=ASSETS | DOCS,
    package_data={
        "": ["static/**/*", "templates/**/*", *(f"**/*.{kind}" for kind in DATA)],
        **{package: ["**/*"] for package in ASSETS},
    },
)
