"""Every preset and profile builds its DAG; GPU rules ask for what they need."""

import re

import pytest

RULES = ("finetune_model", "cache_activations", "sweep", "pca", "neurons", "rsa", "edges", "description_length",
         "structural", "mlp", "directprobe", "label_distances", "paths", "layer_probes", "draw", "tabulate", "score",
         "scorecard")  # fmt: skip


@pytest.mark.parametrize("preset", [None, "config/laptop.yaml", "config/paper.yaml"])
def test_preset_plans_every_rule(finished, preset):
    output = finished.snakemake("--dry-run", preset=preset)
    for rule in RULES:
        assert re.search(rf"^{rule}(_\w+)? +\d+", output, re.MULTILINE), rule


def test_slurm_profile_asks_for_gpus(finished):
    output = finished.snakemake("--dry-run", "--profile", "profiles/slurm", preset="config/paper.yaml")
    for rule in ("finetune_model", "cache_activations", "neurons", "sweep", "edges", "structural", "mlp"):
        block = re.search(rf"^rule {rule}:\n(?:    .*\n)+", output, re.MULTILINE)[0]
        resources = re.search(r"resources: (.*)", block)[1]
        assert "gpu=1" in resources and "mem_mb=" in resources and "runtime=" in resources, (rule, resources)


def test_what_frees_disk_goes_first(finished):
    output = finished.snakemake("--dry-run", preset="config/paper.yaml")
    found = {}
    for block in re.findall(r"^(?:local)?rule (\w+):\n((?:    .*\n)+)", output, re.MULTILINE):
        name, priority = re.sub(r"_\d+$", "", block[0]), re.search(r"priority: (\d+)", block[1])
        found[name] = int(priority[1]) if priority else 0
    for rule in ("edges", "description_length", "structural", "rsa"):
        assert found[rule] > found["cache_temporarily"] > found["finetune_model"] > found["sweep"], found


def test_the_demo_s_rule_graph_is_a_picture_that_can_be_read(finished):
    boxes = re.findall(r'label = "', finished.snakemake("--rulegraph", "dot", preset=None))
    assert 20 < len(boxes) <= 40


def test_default_profile_limits_local_gpu_jobs(finished):
    assert "gpu=1" in (finished.folder / "profiles/default/config.yaml").read_text()


def test_rules_are_documented_and_annotated(finished):
    for path in (finished.folder / "workflow/rules").rglob("*.smk"):
        if path.stem == "targets":  # nothing is run there
            continue
        text = path.read_text()
        assert text.startswith('"""'), path
        for rule in re.split(r"^ *rule\b", text, flags=re.MULTILINE)[1:]:
            name = rule.split(":")[0]
            for part in (
                '    """',
                "    log:",
                "    benchmark:",
                "    resources:",
                "    conda:",
                "modules=",
                "mem_mb=",
                "runtime=",
            ):
                assert part in rule, (path.name, name, part)
