"""README and docs: links lead somewhere, and every command exists."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.base.test_damage import FLIPS
from tests.fuzz.damage import INPUTS
from tests.security.hostile import HOSTILE
from tests.workflow.test_kills import KILLS
from workflow.lib.base import methods_docs
from workflow.lib.base.digests import ROOT

TEXTS = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "config/README.md",
                                    "results/README.md")),
         *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "workflow/papers").glob("*/README.md"))]  # fmt: skip
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
NEEDS_RUNS = "runs="  # tested with finished runs, in tests/workflow
PARTS = ("Snakefile", "workflow", "config", "profiles", "envs")


def anchors(path: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def commands() -> list[str]:
    found = []
    for path in TEXTS:
        for block in BLOCK.findall(path.read_text()):
            found += [shlex.join(shlex.split(line, comments=True)) for line in block.splitlines() if line.strip()]
    return sorted(set(filter(None, found)))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    for link in LINK.findall(path.read_text()):
        if link.startswith(("http://", "https://")):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists() and (target.is_dir() or target.stat().st_size), f"{path.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{path.name}: {link}"


def test_every_make_target_exists():
    made = set(re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    quoted = [words for path in TEXTS for words in re.findall(r"`[^`]+`", path.read_text())]
    named = {target for words in quoted for target in re.findall(r"\bmake ([a-z-]+)\b", words)}
    named |= {command.split()[1] for command in commands() if command.startswith("make ")}
    assert named <= made, named - made


def test_modules_on_the_command_line_exist():
    named = {word for path in TEXTS for word in re.findall(r"python -m ([\w.]+)", path.read_text())}
    for module in named - {"pytest"}:
        folder = ROOT.joinpath(*module.split("."))
        assert folder.with_suffix(".py").is_file() or (folder / "__main__.py").is_file(), module


def runnable() -> list[str]:
    return [command for command in commands() if "snakemake" in command.split()[0] and NEEDS_RUNS not in command]


@pytest.fixture(scope="module")
def a_users_folder(tmp_path_factory) -> Path:
    """The project, and the config of an own encoder as docs/own.md has it made: the example with a path."""
    folder = tmp_path_factory.mktemp("user")
    for part in PARTS:
        (folder / part).symlink_to(ROOT / part)
    (folder / "encoder").mkdir()
    (folder / "encoder/config.json").write_text('{"num_hidden_layers": 12, "hidden_size": 768}')
    example = (ROOT / "config/mine.example.yaml").read_text()
    (folder / "mine.yaml").write_text(re.sub(r"path: [^,}\s]+", f"path: {folder}/encoder", example))
    return folder


@pytest.mark.parametrize("command", runnable())
def test_snakemake_understands_the_command(command, a_users_folder):
    """A dry run of it."""
    words = shlex.split(command.replace("<targets>", "matton2019"))[1:]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words, "--dry-run", "--quiet", "all"],
        cwd=a_users_folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]


def test_what_reliability_says_was_tried_is_what_tests_try():
    said = (ROOT / "docs/reliability.md").read_text()
    assert f"| {KILLS} kills of one run |" in said and f"| {INPUTS:,} each, " in said
    assert f"| {FLIPS + FLIPS // 10} damages of each of six" in said
    assert f"| {len(HOSTILE)} values in every such key" in said


def test_the_page_of_methods_is_what_rule_files_and_papers_say():
    assert methods_docs.PAGE.read_text() == methods_docs.generated(), "run `make docs`"
