#!/usr/bin/env bash
# Stops what start.sh started.
for daemon in slurmd slurmctld munged; do
  pkill -x "$daemon" || true
done
