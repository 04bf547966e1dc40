"""Every preset and profile builds its DAG; GPU rules ask for what they need."""

import re

import pytest


@pytest.mark.parametrize("preset", [None, "config/laptop.yaml", "config/paper.yaml"])
def test_preset_plans_every_artifact(finished, preset):
    output = finished.snakemake("--dry-run", preset=preset)
    for rule in ("finetune_model", "cache_activations", "pca_accuracy", "search_neurons", "directprobe", "mlp_probe",
                 "follow_labels", "sweep_recipes", "rsa", "edge_probe", "description_length", "structural_probe",
                 "probe_layers", "layer_changes", "scorecard"):  # fmt: skip
        assert re.search(rf"^{rule} +\d+", output, re.MULTILINE), rule


def test_a_sweep_is_as_deep_as_its_encoder(finished):
    """A job for each run, named after it."""
    deep = ("--config", "encoders={bert: {layers: 26}}", "--", "singh2020")
    output = finished.snakemake("--dry-run", *deep, preset="config/paper.yaml")
    assert re.search(r"qnli/bert\.0\.s0\.f1\.reinit-26\.parquet", output) and "reinit-27" not in output


def test_slurm_profile_asks_for_gpus(finished):
    output = finished.snakemake("--dry-run", "--profile", "profiles/slurm", "--config", "run=elsewhere", "gpu=1")
    for rule in ("pretrain_encoder", "finetune_model", "cache_activations", "search_neurons", "sweep_recipes",
                 "edge_probe", "structural_probe"):  # fmt: skip
        block = re.search(rf"^rule {rule}:\n(?:    .*\n)+", output, re.MULTILINE)[0]
        resources = re.search(r"resources: (.*)", block)[1]
        assert "gpu=1" in resources and "mem_mb=" in resources and "runtime=" in resources, (rule, resources)


def test_default_profile_limits_local_gpu_jobs(finished):
    assert "gpu=1" in (finished.folder / "profiles/default/config.yaml").read_text()


def test_rules_are_documented_and_annotated(finished):
    for path in (finished.folder / "workflow/rules").rglob("*.smk"):
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
