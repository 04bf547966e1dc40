"""A script's digest must follow the modules it uses, and an output must appear whole or not at all."""

import ast
import textwrap

import pytest

from workflow.lib.base import digests as modules
from workflow.lib.base.files import whole_file, whole_folder

SOURCES = {
    "workflow/scripts/direct.py": "from workflow.lib.near import something\n",
    "workflow/scripts/late.py": """
        if __name__ == "__main__":
            from workflow.lib import near
        """,
    "workflow/scripts/inside.py": """
        def work():
            import workflow.lib.near
        """,
    "workflow/scripts/package.py": "from workflow.lib.pack import thing\n",
    "workflow/scripts/alone.py": "import json\n",
    "workflow/lib/__init__.py": "",
    "workflow/lib/near.py": "from workflow.lib.far import value\nsomething = value\n",
    "workflow/lib/far.py": "from workflow.lib import near\nvalue = 1\n",  # a circle must not hang
    "workflow/lib/unrelated.py": "value = 1\n",
    "workflow/lib/pack/__init__.py": "from workflow.lib.pack.part import thing\n",
    "workflow/lib/pack/part.py": "thing = 1\n",
}


def clear():
    for function in (modules.imported_files, modules.modules_behind, modules.digest_of):
        function.cache_clear()


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    monkeypatch.setattr(modules, "ROOT", tmp_path)
    clear()
    yield tmp_path
    clear()


def changes(tree, script: str, edited: str) -> bool:
    clear()
    before = modules.digest_of(script)
    with (tree / edited).open("a") as file:
        file.write("# edited\n")
    clear()
    return modules.digest_of(script) != before


@pytest.mark.parametrize("script", ["scripts/direct.py", "scripts/late.py", "scripts/inside.py"])
@pytest.mark.parametrize("edited", ["near.py", "far.py"])
def test_digest_follows_direct_and_indirect_imports(tree, script, edited):
    assert changes(tree, script, f"workflow/lib/{edited}")


@pytest.mark.parametrize("edited", ["pack/__init__.py", "pack/part.py"])
def test_digest_follows_packages(tree, edited):
    assert changes(tree, "scripts/package.py", f"workflow/lib/{edited}")


@pytest.mark.parametrize("edited", ["lib/unrelated.py", "lib/pack/part.py", "scripts/alone.py", "scripts/late.py"])
def test_digest_ignores_what_is_not_imported(tree, edited):
    assert not changes(tree, "scripts/direct.py", f"workflow/{edited}")


def test_digest_is_the_same_in_another_folder(tree, tmp_path_factory, monkeypatch):
    here = modules.digest_of("scripts/direct.py")
    there = tmp_path_factory.mktemp("moved") / "copy"
    tree.rename(there)
    monkeypatch.setattr(modules, "ROOT", there)
    clear()
    assert modules.digest_of("scripts/direct.py") == here


def test_script_without_imports_has_an_empty_set(tree):
    assert modules.modules_behind(tree / "workflow/scripts/alone.py") == frozenset()


def test_every_real_script_that_imports_the_library_has_modules():
    clear()
    scripts = sorted((modules.ROOT / "workflow/scripts").glob("*.py"))
    scripts += sorted((modules.ROOT / "workflow/papers").glob("*/*/*.py"))
    assert len(scripts) > 50
    for script in scripts:
        if "workflow.lib" in script.read_text():
            behind = modules.modules_behind(script)
            assert behind and all(path.is_relative_to(modules.ROOT / "workflow") for path in behind), script


def test_no_real_module_imports_relatively():
    """The digest does not follow `from . import x`, so nothing may use it."""
    for source in (modules.ROOT / "workflow").rglob("*.py"):
        relative = [node for node in ast.walk(ast.parse(source.read_text())) if getattr(node, "level", 0)]
        assert not relative, source


def test_whole_file_appears_at_the_end(tmp_path):
    path = tmp_path / "new" / "file.txt"
    with whole_file(path) as beside:
        beside.write_text("text")
        assert not path.exists() and beside.parent == path.parent
    assert path.read_text() == "text"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("is_new", [True, False])
def test_whole_file_leaves_nothing_of_a_failure(tmp_path, is_new):
    path = tmp_path / "file.txt"
    if not is_new:
        path.write_text("old")
    with pytest.raises(RuntimeError), whole_file(path) as beside:
        beside.write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == ([] if is_new else [path])
    assert is_new or path.read_text() == "old"


def test_whole_file_never_written_is_an_error_that_keeps_the_old(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with pytest.raises(FileNotFoundError), whole_file(path):
        pass
    assert path.read_text() == "old"


def test_whole_folder_replaces_the_old_one_at_the_end(tmp_path):
    path = tmp_path / "folder"
    path.mkdir()
    (path / "old").write_text("old")
    with whole_folder(path) as beside:
        (beside / "new").write_text("new")
        assert (path / "old").exists()
    assert [file.name for file in path.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("is_new", [True, False])
def test_whole_folder_leaves_nothing_of_a_failure(tmp_path, is_new):
    path = tmp_path / "folder"
    if not is_new:
        path.mkdir()
        (path / "old").write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_folder(path) as beside:
        (beside / "half").write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == ([] if is_new else [path])
    assert is_new or [file.name for file in path.iterdir()] == ["old"]


def test_what_a_killed_job_left_is_removed_by_the_next(tmp_path):
    """And nothing else that stands there."""
    (tmp_path / ".out.123.part").mkdir()
    (tmp_path / ".out.123.part" / "half").write_text("half")
    (tmp_path / ".x.csv.7.part").write_text("half")
    (tmp_path / ".other.9.part").write_text("of another output")
    (tmp_path / ".out.metrics.9.part").write_text("of another output")
    with whole_folder(tmp_path / "out") as beside:
        (beside / "new").write_text("new")
    with whole_file(tmp_path / "x.csv") as beside:
        beside.write_text("new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".other.9.part",
        ".out.metrics.9.part",
        "out",
        "x.csv",
    ]
