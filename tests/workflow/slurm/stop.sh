#!/usr/bin/env bash
# Stops what start.sh started, and takes its configuration away: Slurm's commands, which the plugin calls whenever Snakemake
# starts, would wait nine seconds for a controller that is gone.
for daemon in slurmd slurmctld munged; do
  pkill -x "$daemon" || true
done
if grep -qs '^ClusterName=tunescope' /etc/slurm/slurm.conf; then
  rm -f /etc/slurm/slurm.conf /etc/slurm/gres.conf
fi
