"""What a user should know before a run begins: how much it will take, and what does not fit together."""

from pathlib import Path

from workflow.lib.base.names import encoder_of
from workflow.lib.base.plan import Plan
from workflow.lib.costs.planned import places_of, planned_jobs
from workflow.lib.costs.table import disk, rows_of, seconds_of

HERE = ("shipped", "pretrain")  # encoders that know the generated language and no other


def forecast(plan: Plan) -> str:
    """Of the whole run, whatever of it is there already."""
    rows = rows_of(plan)
    hours = {"GPU": rows["gpu_hours"].sum(), "core": rows["core_hours"].sum()}
    times = ", ".join(f"{_duration(of_kind)} of a {kind}" for kind, of_kind in hours.items() if of_kind)
    space = disk(plan, rows)
    room = f"{space['peak']:.1f} GB of disk, of which {space['stays']:.1f} GB stay"
    return f"the whole run takes about {times}, {room} (`make plan` says more)"


def left_to_do(plan: Plan) -> dict[str, float]:
    """Seconds by log file, of planned jobs that have not ended yet: for a line of progress."""
    results = Path("results", plan.config["run"])
    jobs = [job for job in planned_jobs(plan) if not (results / f"benchmarks/{job.name}.tsv").exists()]
    return {str(results / f"logs/{job.name}.log"): seconds_of(plan, job)[0] for job in jobs}


def _duration(hours: float) -> str:
    return f"{hours:.0f} hours" if hours >= 10 else f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"


def mismatches(plan: Plan) -> list[str]:
    """Encoders that have not learnt the language of their data."""
    config = plan.config
    used = sorted({encoder_of(item).partition(".")[0] for items in plan.items.values() for item in items})
    kinds = {name: config["encoders"][config["encoders"][name].get("like", name)]["source"] for name in used}
    ours, real = ([name for name in used if (kinds[name] in HERE) == is_ours] for is_ours in (True, False))
    read = list(dict.fromkeys(place.partition("/")[0] for place in places_of(plan)))
    made = [name for name in read if config["datasets"][name]["source"] == "embedded"]
    others = [name for name in read if name not in made]
    found = []
    if real and made:
        found.append(f"generated data ({', '.join(made)}) under an encoder of real text ({', '.join(real)}): the words"
                     " mean nothing to it; give these datasets `source: real` or `file`")  # fmt: skip
    if ours and others:
        found.append(f"real data ({', '.join(others)}) under an encoder of the generated language ({', '.join(ours)}):"
                     " it knows none of the words; give it an encoder of `source: hub` or `folder`")  # fmt: skip
    return found
