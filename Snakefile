"""Tunescope: redraws the figures and tables of papers on what fine-tuning does to BERT.

data -> encoders -> models -> activations -> analysis -> figures, tables -> scorecard
"""

import os
import sys

from snakemake.utils import min_version

min_version("9.25")

sys.path.insert(0, workflow.basedir)

from workflow.lib.base.overridden import own_settings
from workflow.lib.base.start import check_place, start
from workflow.lib.costs.estimates import Costs
from workflow.lib.costs.forecast import forecast, notes, planned_seconds

STAGES = "data encoders models sweeps activations".split()
METHODS = "pca neurons rsa edges structural mlp directprobe paths layer_probes".split()


configfile: os.path.join(workflow.basedir, "config/config.yaml")


# the checked config, and what the papers of this run need (workflow/papers/<key>/plan.py)
config, PLAN = start(config, on_node=workflow.remote_exec)
# memory, disk and time of a rule's jobs, from the size of their work
COSTS = Costs(PLAN)


pathvars:
    results=f"results/{config['run']}",


# a limit on GPU jobs (profiles/default) is one machine's; on a cluster as many run as the scheduler gives
resource_scopes:
    gpu="local",


wildcard_constraints:
    encoder=r"[a-z][a-z0-9_]*\.\d+",
    paper=r"[a-z][a-z0-9_]*",


for part in (*STAGES, *METHODS, "artifacts", "scorecard", "page", "targets"):

    include: f"workflow/rules/{part}.smk"


onstart:
    own = own_settings(workflow.configfiles, workflow.config_settings.config)
    for note in notes(PLAN, own):
        logger.warning(f"Note: {note}.")
    logger.info(f"Forecast: {forecast(PLAN)}.", extra={"planned": planned_seconds(PLAN)})
    check_place(config, workflow.dag.needrun_jobs())


rule all:
    """Every figure and table of every paper, and the scorecard."""
    default_target: True
    input:
        PLAN.artifact_files(),
        "<results>/scorecard.md",
        "<results>/scorecard.html",
