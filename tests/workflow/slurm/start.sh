#!/usr/bin/env bash
# Starts a one-node Slurm with two pretend GPUs on this machine: Debian's packages slurm-wlm and munge, as root, without systemd.
# Each pretend GPU is a device like /dev/null, so that Slurm hands it out and sets CUDA_VISIBLE_DEVICES as for a real one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [ -e /etc/slurm/slurm.conf ] && ! grep -qs '^ClusterName=tunescope' /etc/slurm/slurm.conf; then
  echo "this machine belongs to a Slurm cluster, which stays as it is" >&2
  exit 3
fi
host=$(hostname -s) cpus=$(nproc) memory=$(($(awk '/MemTotal/{print int($2/1024)}' /proc/meminfo) * 8 / 10))
install -d -o munge -g munge -m 0755 /run/munge
install -d /opt/pretend-gpus /etc/slurm /var/lib/slurm/slurmctld /var/lib/slurm/slurmd /var/log/slurm
for number in 0 1; do
  [ -e /opt/pretend-gpus/gpu$number ] || mknod /opt/pretend-gpus/gpu$number c 1 3
done
sed -e "s/HOST/$host/g; s/NCPUS/$cpus/g; s/MEMORY/$memory/g" "$here/slurm.conf" > /etc/slurm/slurm.conf
echo "NodeName=$host Name=gpu File=/opt/pretend-gpus/gpu[0-1]" > /etc/slurm/gres.conf
pgrep -x munged > /dev/null || runuser -u munge -- /usr/sbin/munged
munge -n | unmunge > /dev/null
pgrep -x slurmctld > /dev/null || slurmctld -c
sleep 2
pgrep -x slurmd > /dev/null || slurmd
for _ in $(seq 20); do
  sinfo -h -o %T | grep -qx idle && break
  scontrol update nodename="$host" state=resume 2> /dev/null || true
  sleep 1
done
sinfo -N -o '%N %P %T %C %m %G'
