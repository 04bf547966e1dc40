"""The image recipes: both install requirements.txt and nothing else, for a Python that it fits; their scripts parse."""

import re
import shutil
import subprocess

import pytest
import yaml

from workflow.lib.base.digests import ROOT

CONTAINERFILE, DEFINITION = ROOT / "envs/Containerfile", ROOT / "envs/tunescope.def"
INSTRUCTIONS = {"FROM", "ARG", "RUN", "COPY", "ENV", "CMD"}
SECTIONS = {"arguments", "files", "post", "environment", "runscript", "test"}


def instructions() -> list[tuple[str, str]]:
    text = "".join(line for line in CONTAINERFILE.read_text().splitlines(True) if not line.startswith("#"))
    lines = [line for line in text.replace("\\\n", "\n\\").split("\n") if line]
    joined: list[str] = []
    for line in lines:
        if line.startswith("\\"):
            joined[-1] += "\n" + line[1:]
        else:
            joined.append(line)
    return [tuple(line.split(" ", 1)) for line in joined]


def sections() -> dict[str, str]:
    parts = re.split(r"^%(\w+)\n", DEFINITION.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def test_instructions_and_sections_are_known():
    assert {name for name, _ in instructions()} == INSTRUCTIONS and sections().keys() == SECTIONS


def scripts() -> dict[str, str]:
    found = {f"RUN {number}": text for number, (name, text) in enumerate(instructions()) if name == "RUN"}
    return found | {f"%{name}": sections()[name] for name in ("post", "environment", "runscript", "test")}


@pytest.mark.parametrize("name", scripts())
def test_shell_scripts_parse(name):
    script = scripts()[name].replace("\n", " \\\n") if name.startswith("RUN") else scripts()[name]
    assert subprocess.run(["sh", "-n"], input=script, text=True, capture_output=True).returncode == 0
    if shutil.which("shellcheck"):
        checked = subprocess.run(["shellcheck", "--shell=sh", "-"], input=script, text=True, capture_output=True)
        assert checked.returncode == 0, checked.stdout


def test_they_install_the_pins_and_nothing_else():
    for text in (CONTAINERFILE.read_text(), DEFINITION.read_text()):
        installed = re.findall(r"pip install (?:--no-cache-dir )?(.*?)(?:;|$)", text, flags=re.MULTILINE)
        assert len(installed) == 2 and installed[1].startswith("-r /opt/requirements.txt")
        assert "grep '^torch==' /opt/requirements.txt" in installed[0]


def test_their_python_is_one_that_the_pins_are_for():
    images = [dict(instructions())["FROM"], re.search(r"^From: (.*)$", DEFINITION.read_text(), re.MULTILINE)[1]]
    version = re.fullmatch(r"python:3\.(\d+)-slim", images[0])
    conda = yaml.safe_load((ROOT / "envs/environment.yaml").read_text())["dependencies"][0]
    low, high = map(int, re.fullmatch(r"python>=3\.(\d+),<3\.(\d+)", conda).groups())
    assert images[0] == images[1] and low <= int(version[1]) < high


def test_every_rule_names_the_conda_file():
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        text = path.read_text()
        n_rules = len(re.findall(r"^\s*script:", text, re.MULTILINE))
        assert text.count('"../../envs/environment.yaml"') == n_rules, path.name
