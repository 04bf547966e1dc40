"""A digest of the code behind a script, because Snakemake does not notice edits in imported modules.

`digest_of("scripts/pca.py")` follows the script's imports of `workflow.lib` and `workflow.papers` (recursively, and
also imports inside functions) and hashes those files. A rule that has it in `params` reruns when, and only when, a
module that it uses changes.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@cache
def imported_files(source: Path) -> frozenset[Path]:
    """Files of the workflow that a Python file imports directly."""
    names = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            # `from workflow.lib import x` may name a module rather than an attribute
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    files = set()
    for name in names:
        if name.startswith(("workflow.lib.", "workflow.papers.")):
            stem = ROOT.joinpath(*name.split("."))
            files.update(path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file())
    return frozenset(files)


@cache
def modules_behind(source: Path) -> frozenset[Path]:
    """All files of the workflow that a Python file imports, directly or indirectly."""
    found, waiting = set(), [source]
    while waiting:
        new = imported_files(waiting.pop()) - found
        found |= new
        waiting.extend(new)
    return frozenset(found)


@cache
def digest_of(script: str) -> str:
    """Digest of the modules that a script imports. `script`: its path below `workflow`."""
    digest = hashlib.sha256()
    for path in sorted(modules_behind(ROOT / "workflow" / script)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
