"""A digest of the code behind a script, because Snakemake does not notice edits in imported modules.

`digest_of("pca/fit.py")` follows the script's imports of `workflow.lib` (and theirs, wherever they stand in the file)
and hashes those files. A rule that carries it in `params` reruns when, and only when, a module it uses changes.
"""

import ast
import hashlib
import os
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "workflow" / "scripts"


def let_jobs_import() -> None:
    """Scripts import `workflow.lib`: a job, here or on a node, parses the Snakefile first and inherits the path."""
    others = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), others] if others else [str(ROOT)])


@cache
def imported_files(source: Path) -> frozenset[Path]:
    """Files of `workflow.lib` that a Python file imports directly."""
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
        if name.startswith("workflow.lib."):
            stem = ROOT.joinpath(*name.split("."))
            files.update(path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file())
    return frozenset(files)


@cache
def modules_behind(source: Path) -> frozenset[Path]:
    """All files of `workflow.lib` that a Python file depends on, however indirectly."""
    found, waiting = set(), [source]
    while waiting:
        new = imported_files(waiting.pop()) - found
        found |= new
        waiting.extend(new)
    return frozenset(found)


@cache
def digest_of(script: str) -> str:
    digest = hashlib.sha256()
    for path in sorted(modules_behind(SCRIPTS / script)):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
