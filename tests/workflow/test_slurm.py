"""A real Slurm of one node with two pretend GPUs, through profiles/slurm as docs/cluster.md says.

Needs Debian's packages slurm-wlm and munge, and root to start them (.ci/run installs them); else it is skipped.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.workflow.conftest import Workspace, measured_tables
from workflow.lib.base.performance import jobs_of

SCRIPTS = Path(__file__).parent / "slurm"
# what docs/cluster.md asks to fill in, and shorter waits
SITE = {
    "# slurm-status-command: squeue": "slurm-status-command: squeue\nslurm-no-account: true\n"
    "slurm-init-seconds-before-status-checks: 5",
    "cores: 16": "cores: 2",
    "latency-wait: 30": "latency-wait: 5",
}
FOUR = ["matton2019", "merchant2020", "singh2020", "zhou2022"]
PRETEND = "gpu: 1\naccelerator: pretend\n"


@pytest.fixture(scope="module")
def slurm():
    if shutil.which("slurmctld") is None or shutil.which("munged") is None:
        pytest.skip("needs Slurm (Debian's slurm-wlm and munge)")
    if os.geteuid():
        pytest.skip("needs root to start Slurm")
    started = subprocess.run([SCRIPTS / "start.sh"], capture_output=True, text=True)
    if started.returncode or "idle" not in started.stdout:
        said = started.stdout + started.stderr
        assert "CI" not in os.environ, said  # there it must run
        pytest.skip(f"Slurm did not start: {said.strip()[-300:]}")
    yield
    subprocess.run([SCRIPTS / "stop.sh"], check=False)


class Cluster(Workspace):
    def __init__(self, folder: Path):
        super().__init__(folder)
        profile = folder / "profiles/slurm/config.yaml"
        text = profile.read_text()
        for line, filled in SITE.items():
            assert line in text, f"{line} is no longer in the profile"
            text = text.replace(line, filled, 1)
        profile.write_text(text)

    def submit(self, run: str, *arguments: str, changes: str = "") -> subprocess.Popen:
        (self.folder / f"config/{run}.yaml").write_text(f"run: {run}\n{PRETEND}{changes}")
        command = [a for a in self.command(preset=None) if a not in ("--cores", "2")]
        command += [*arguments, "--profile", "profiles/slurm", "--configfile", "config/tiny.yaml", f"config/{run}.yaml"]
        log = (self.folder / f"{run}.log").open("w")
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )

    def ended(self, run: str, submitted: subprocess.Popen, minutes: float) -> str:
        try:
            code = submitted.wait(timeout=60 * minutes)
        except subprocess.TimeoutExpired:
            subprocess.run(["scancel", "--user", "root"], check=False)
            os.killpg(submitted.pid, signal.SIGKILL)
            raise
        said = (self.folder / f"{run}.log").read_text()
        assert code == 0, said[-5000:]
        return said


@pytest.fixture(scope="module")
def cluster(slurm, tmp_path_factory) -> Cluster:
    return Cluster(tmp_path_factory.mktemp("cluster"))


def until(happened, what: str, seconds: float = 240):
    deadline = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < deadline, f"no {what} within {seconds} s"
        time.sleep(0.2)
    return found


def test_four_papers_give_the_tables_of_a_local_run(cluster, finished):
    said = cluster.ended("cluster", cluster.submit("cluster", changes=f"papers: {FOUR}\n"), minutes=30)
    here = measured_tables(finished.folder / "results/tiny")
    there = measured_tables(cluster.folder / "results/cluster")
    drawn = {name for name in here if name.split("/")[0] in ("figures", "tables") and name.split("/")[1] in FOUR}
    assert drawn <= there.keys() <= here.keys() and len(there) > 150
    assert [name for name in there if here[name] != there[name]] == []
    assert "Auto-selected partition 'gpu'" in said and "Auto-selected partition 'cpu'" in said


def test_gpu_jobs_ran_side_by_side_on_devices_of_their_own(cluster):
    """The limit of one GPU job that profiles/default sets for one machine does not hold on a cluster."""
    run = cluster.folder / "results/cluster"
    numbers = {}
    for log in (run / "logs").rglob("*.log"):
        if told := re.search(r"GPU (\S+), in pretence", log.read_text()):
            numbers[log.relative_to(run / "logs").with_suffix("").as_posix()] = told[1]
    assert set(numbers.values()) == {"0", "1"} and len(numbers) >= 10
    jobs = jobs_of(run).query("rule == 'pretrain_encoder'")
    assert len(jobs) == 2 and jobs["begin"].max() < jobs["end"].min(), "one waited for the other"
    assert numbers["encoders/base.0"] != numbers["encoders/base.1"]


LONG = "training: {epochs: 40}\n"
MODELS = {"cancelled": "imdb.full.f1.s0", "fat": "mnli.full.f1.s0", "slow": "trec50.full.f1.s0"}
RULES = {"cancelled": "finetune_model_matton2019", "fat": "finetune_model_merchant2020",
         "slow": "finetune_model_zhou2022"}  # fmt: skip


def ids_of(rule: str, state: str = "R") -> list[str]:
    listed = subprocess.run(["squeue", "-h", "-t", state, "-o", "%i %k"], capture_output=True, text=True).stdout
    return [line.split()[0] for line in listed.splitlines() if rule in line]


def processes_of(job: str) -> list[int]:
    """Python processes of a job's script."""
    listed = subprocess.run(["scontrol", "listpids", job], capture_output=True, text=True).stdout
    pids = [int(line.split()[0]) for line in listed.splitlines()[1:]]
    return [pid for pid in pids if b"finetune_model.py" in (Path("/proc") / str(pid) / "cmdline").read_bytes()]


def test_cancelled_fat_and_slow_trainings_are_tried_again_and_go_on(cluster, finished):
    """One is cancelled, one uses more memory than it asked for, one takes more time (it is stopped, which costs no
    processor time). Each goes on from its last state, and ends with the tables of an undisturbed run."""
    metrics = [f"models/base.0/{model}.metrics.parquet" for model in MODELS.values()]
    changes = f"{LONG}tasks: {{trec50: {{epochs: 40}}, mnli: {{epochs: 40}}}}\npaths: {{every: 1000}}\n"
    (finished.folder / "config/undisturbed.yaml").write_text(f"run: undisturbed\n{changes}")
    asked = ("--configfile", "config/tiny.yaml", "config/undisturbed.yaml")
    finished.snakemake(*(f"results/undisturbed/{name}" for name in metrics), *asked, preset=None)

    less = [f"{RULES['fat']}:mem_mb=200*10**(attempt-1)", f"{RULES['slow']}:runtime=1*5**(attempt-1)"]
    run = cluster.folder / "results/disturbed"
    submitted = cluster.submit(
        "disturbed", *(f"results/disturbed/{name}" for name in metrics), "--set-resources", *less, changes=changes
    )

    def saved(name: str) -> bool:
        return bool(list((run / "models/base.0").glob(f".{MODELS[name]}.*resume.pt"))) and bool(ids_of(RULES[name]))

    disturbed = set()
    while len(disturbed) < 2:
        name = until(lambda: next((one for one in ("cancelled", "slow") if one not in disturbed and saved(one)), None),
                     "training to disturb")  # fmt: skip
        (job,) = ids_of(RULES[name])
        if name == "cancelled":
            subprocess.run(["scancel", job], check=True)
        else:
            for pid in until(lambda job=job: processes_of(job), "process of the job"):
                os.kill(pid, signal.SIGSTOP)
        disturbed.add(name)

    said = cluster.ended("disturbed", submitted, minutes=15)
    for name, rule in RULES.items():
        assert said.count(f"Error in rule {rule}") == 1, f"{name}: {said.count(f'Error in rule {rule}')} failures"
    for status in ("CANCELLED", "TIMEOUT"):
        assert f"SLURM status is: '{status}'" in said
    for name in ("cancelled", "slow"):
        (log,) = (path for path in (run / "logs/models").glob("*.log") if RULES[name] in path.name)
        assert "continuing after epoch" in log.read_text(), name
    for name in metrics:
        assert (run / name).read_bytes() == (finished.folder / "results/undisturbed" / name).read_bytes(), name
