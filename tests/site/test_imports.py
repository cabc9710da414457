"""Imports stand at the top of a module, where a reader and the import rules see them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("annotation", "bench", "benchmarks", "extensions", "summhay_site")
HEAVY = {
    "altair", "bm25s", "bpe_openai", "httpx2", "krippendorff", "openai", "pyarrow", "pypdf", "scipy",
    "sentry_sdk", "vl_convert",
}  # fmt: skip
"""Loaded where they are used, since each costs a start more than a tenth of a second, or much memory; bpe_openai,
pyarrow, pypdf and sentry_sdk are extras that need not be there."""
EXCEPTIONS = {"summhay_site/gunicorn.py"}
"""Runs before Django is set up."""


def local_imports(source: str) -> Iterator[tuple[int, str]]:
    """Line and module of each import inside a function."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.ImportFrom):
                yield node.lineno, node.module or ""
            elif isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)


INDENTED = re.compile(r"(^[ \t]+|[:;] *)(import|from)\b", re.MULTILINE)
"""What a module contains that has an import anywhere but at its margin; others need not be parsed."""


def test_an_import_inside_a_function_is_found_however_deep_it_is() -> None:
    source = (
        "import a\n\ndef outer():\n    def inner():\n        from b.c import d\n    if True:\n        import e\n"
    )
    assert INDENTED.search(source)
    assert INDENTED.search("def outer(): import a")
    assert set(local_imports(source)) == {(5, "b.c"), (7, "e")}


def test_only_heavy_libraries_are_imported_inside_functions() -> None:
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name in EXCEPTIONS or path.name == "apps.py" or "migrations" in path.parts:
                continue
            text = path.read_text()
            imports = set(local_imports(text)) if INDENTED.search(text) else set()
            found += [f"{name}:{line} {module}" for line, module in imports if module.split(".")[0] not in HEAVY]
    assert found == []


def test_tests_can_be_collected_without_extras() -> None:
    """`make test` installs none of them; a test that needs one is left out where it is not there."""
    extras = r"^(?:import|from) (?:bpe_openai|jwt|mozilla_django_oidc|pyarrow|pypdf|sentry_sdk|storages)\b"
    at_margin = re.compile(extras, re.MULTILINE)
    assert at_margin.search("import a\nimport jwt\n")
    named = (path for path in sorted((ROOT / "tests").rglob("*.py")) if at_margin.search(path.read_text()))
    assert [path.relative_to(ROOT).as_posix() for path in named] == ["tests/site/test_seeing.py"], (
        "there it stands in a program that a test starts"
    )
