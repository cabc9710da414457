"""How large the program is, against bounds that only ever fall: `make size`, which the gate runs.

Run as `python -m tests.size` in a checkout; prints each count with its bound, and fails where one is exceeded.
"""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

CORE = ("annotation", "benchmarks", "summhay_site")
BOUNDS = {
    "lines": 122_776,
    "files": 596,
    "lines of the core": 105_687,
    "lines of extensions": 13_812,
    "lines of the bench": 3_066,
    "net lines": 77_275,
    "modules with one importer": 65,
    "modules under 80 lines": 25,
    "dataclasses": 619,
    "modules outside kinds that name one": 0,
    "lines of tests": 75_230,
}
EXEMPT = re.compile(
    r"/(migrations|management/commands)/|(__init__|apps|urls|admin|kind|tasks)\.py$|^bench/|^[^/]+$"
)
NAMES_A_KIND = re.compile(
    r"\bKind\.(WRITING|LINKING|VERIFICATION|VALIDATION|RATING)\b"
    r"|\b[A-Z]\w*\.(linking|verification|validation|rating)_plan\b"
    r"|annotation\.(linking|verification|validation|rating)\b"
)
MAY_NAME_ONE = re.compile(
    r"annotation/(writing|linking|verification|validation|rating|models|migrations)/"
    r"|annotation/(apps|urls|kinds)\.py|bench/|extensions/"
)


def paths_of(*patterns: str) -> list[str]:
    """The Python files that are checked in under the patterns."""
    return subprocess.run(
        ["git", "ls-files", *patterns], capture_output=True, text=True, check=True
    ).stdout.split()


def sizes() -> dict[str, int]:
    """Each count by its name in `BOUNDS`."""
    texts = {path: Path(path).read_text() for path in paths_of("*.py", ":!tests")}
    lines = {path: text.count("\n") for path, text in texts.items()}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    importers = _importers(trees)
    modules = [path for path in texts if not EXEMPT.search(path)]
    places = [path for path in texts if not MAY_NAME_ONE.match(path)]
    in_folder = defaultdict[str, int](int)
    for path, n in lines.items():
        in_folder[path.split("/")[0]] += n
    return {
        "lines": sum(lines.values()),
        "files": len(texts),
        "lines of the core": sum(in_folder[folder] for folder in CORE),
        "lines of extensions": in_folder["extensions"],
        "lines of the bench": in_folder["bench"],
        "net lines": sum(_net(texts[path], trees[path]) for path in texts if "/migrations/" not in path),
        "modules with one importer": sum(len(importers[_module(path)]) == 1 for path in modules),
        "modules under 80 lines": sum(lines[path] < 80 for path in modules),
        "dataclasses": sum(_is_dataclass(node) for tree in trees.values() for node in ast.walk(tree)),
        "modules outside kinds that name one": sum(bool(NAMES_A_KIND.search(texts[path])) for path in places),
        "lines of tests": sum(Path(path).read_text().count("\n") for path in paths_of("tests/*.py")),
    }


def _module(path: str) -> str:
    return re.sub(r"(/__init__)?\.py$", "", path).replace("/", ".")


def _importers(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    known, importers = {_module(path) for path in trees}, defaultdict[str, set[str]](set)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    importers[full if full in known else node.module].add(path)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    importers[alias.name].add(path)
    return importers


def _net(text: str, tree: ast.Module) -> int:
    """Lines without blank ones, comments, docstrings and imports."""
    lines = text.splitlines()
    left_out = {at for at, line in enumerate(lines, 1) if not line.strip() or line.strip().startswith("#")}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines) - len(left_out)


def _is_dataclass(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and any("dataclass" in ast.dump(one) for one in node.decorator_list)


def main() -> int:
    """Print each count beside its bound; 1 if one is exceeded."""
    counts = sizes()
    for name, count in counts.items():
        print(f"{name}: {count:,} (at most {BOUNDS[name]:,}){' – TOO MANY' * (count > BOUNDS[name])}")
    return int(any(count > BOUNDS[name] for name, count in counts.items()))


if __name__ == "__main__":
    sys.exit(main())
