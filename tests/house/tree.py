"""The files of the project, as the house rules read them."""

from __future__ import annotations

from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
PACKAGE = REPO / "xprof_nb"
_NOT_OURS = {
    "node_modules",
    ".venv",
    ".git",
    "lib",
    "static",
    "dist",
    "build",
    "__pycache__",
    "demo-output",
    "test-output",
}
_BUILT = PACKAGE / "labextension"


def files(*suffixes: str) -> list[Path]:
    """Return every file a person wrote that ends in one of ``suffixes``."""
    found = (path for path in REPO.rglob("*") if path.suffix in suffixes and path.is_file())
    return sorted(path for path in found if _written_by_hand(path))


def _written_by_hand(path: Path) -> bool:
    parts = path.relative_to(REPO).parts
    hidden = any(part.startswith(".") for part in parts[:-1])
    return not hidden and _NOT_OURS.isdisjoint(parts) and _BUILT not in path.parents
