"""Tunescope: redraws the figures and tables of four papers on what fine-tuning does to BERT.

data -> encoders -> models -> activations -> analysis -> figures and tables -> scorecard
"""

import os
import sys

from snakemake.utils import min_version

min_version("9.25")

sys.path.insert(0, workflow.basedir)

from workflow.lib.base.digests import let_jobs_import

let_jobs_import()


configfile: os.path.join(workflow.basedir, "config/config.yaml")


include: "workflow/rules/common.smk"


pathvars:
    results=f"results/{config['run']}",


wildcard_constraints:
    dataset=r"[a-z][a-z0-9_]*",
    split=r"[a-z][a-z0-9_]*",
    name=r"[a-z][a-z0-9_]*",
    seed=r"\d+",
    encoder=r"[a-z][a-z0-9_]*\.\d+",
    task=r"[a-z][a-z0-9_]*",
    recipe=r"[a-z]+(-\d+)?",
    fraction=r"[0-9.]+",
    part=r"[a-z][a-z0-9_]*\.\d+\.s\d+\.f[0-9.]+\.[a-z]+(-\d+)?",
    first=r"[a-z][a-z0-9_.-]*",
    model=r"[a-z][a-z0-9_]*\.\d+/[a-z][a-z0-9_.-]*",
    paper="|".join([*PAPERS, "beyond"]),


include: "workflow/rules/plans/activations.smk"
include: "workflow/rules/plans/matton2019.smk"
include: "workflow/rules/plans/sweeps.smk"
include: "workflow/rules/plans/merchant2020.smk"
include: "workflow/rules/plans/singh2020.smk"
include: "workflow/rules/plans/zhou2022.smk"
include: "workflow/rules/plans/depth.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/encoders.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/sweeps.smk"
include: "workflow/rules/activations.smk"
include: "workflow/rules/pca.smk"
include: "workflow/rules/neurons.smk"
include: "workflow/rules/directprobe.smk"
include: "workflow/rules/mlp.smk"
include: "workflow/rules/paths.smk"
include: "workflow/rules/rsa.smk"
include: "workflow/rules/structural.smk"
include: "workflow/rules/edges.smk"
include: "workflow/rules/layer_probes.smk"
include: "workflow/rules/depth.smk"
include: "workflow/rules/matton2019.smk"
include: "workflow/rules/merchant2020.smk"
include: "workflow/rules/singh2020.smk"
include: "workflow/rules/zhou2022.smk"
include: "workflow/rules/scorecard.smk"


rule all:
    """Every artifact of every paper, and the scorecard."""
    default_target: True
    input:
        artifacts(),
        "<results>/scorecard.md",


rule matton2019:
    """Everything of Matton & de Oliveira 2019."""
    input:
        artifacts("matton2019"),


rule merchant2020:
    """Everything of Merchant et al. 2020."""
    input:
        artifacts("merchant2020"),


rule singh2020:
    """Everything of Singh & Giovanardi 2020."""
    input:
        artifacts("singh2020"),


rule zhou2022:
    """Everything of Zhou & Srikumar 2022."""
    input:
        artifacts("zhou2022"),


rule beyond:
    """What the papers do not have: all methods on the same models; does pre-training matter in this world?"""
    input:
        artifacts("beyond"),
