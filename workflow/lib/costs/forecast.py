"""What a user should know before a run begins: how much it will take, and what does not fit together."""

from pathlib import Path

from workflow.lib.base.disks import lacks_room
from workflow.lib.base.names import encoder_of
from workflow.lib.base.overridden import overridden
from workflow.lib.base.plan import Plan
from workflow.lib.costs.planned import CACHING, places_in, planned_jobs
from workflow.lib.costs.table import disk, rows_of, seconds_of


def forecast(plan: Plan) -> str:
    """Of the whole run, whatever of it is there already."""
    rows = rows_of(plan)
    if rows.empty:
        return "there is nothing to train or to analyse"
    hours = {"GPU": rows["gpu_hours"].sum(), "core": rows["core_hours"].sum()}
    times = ", ".join(f"{_duration(of_kind)} of a {kind}" for kind, of_kind in hours.items() if of_kind)
    space = disk(plan, rows)
    room = f"{space['peak']:.1f} GB of disk, of which {space['stays']:.1f} GB stay"
    return f"the whole run takes about {times}, {room} (`make plan` says more)"


def planned_seconds(plan: Plan) -> dict[str, tuple[str, float]]:
    """Rule and seconds of every planned job, by its log file: for a line of progress."""
    found = {}
    for job in planned_jobs(plan):
        is_shared = len(job.items) > 1  # then the rule is named as the job, else as what it does
        rule = job.name.rpartition("/")[2] if is_shared else job.rule
        found[f"results/{plan.config['run']}/logs/{job.name}.log"] = (rule, seconds_of(plan, job)[0])
    return found


def _duration(hours: float) -> str:
    return f"{hours:.0f} hours" if hours >= 10 else f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"


def notes(plan: Plan, own: dict[str, dict]) -> list[str]:
    """What a run may stumble over, or a user not have meant. `own`: what the user's own config says."""
    rows = rows_of(plan)
    room = lacks_room(Path("results") / plan.config["run"], disk(plan, rows)["peak"]) if len(rows) else None
    return [*mismatches(plan), *overridden(plan, own), *filter(None, [room])]


def mismatches(plan: Plan) -> list[str]:
    """Encoders that have not learnt the language of the data that they read."""
    config = plan.config
    reading = dict.fromkeys(("finetune_model", "sweep"), plan.training_data) | dict.fromkeys(CACHING, plan.cache_data)
    generated: dict[str, set[str]] = {"data": set(), "encoders": set()}
    real: dict[str, set[str]] = {"data": set(), "encoders": set()}
    for rule, files_of in reading.items():
        for item in plan.items.get(rule, {}):
            encoder = encoder_of(item).partition(".")[0]
            for place in places_in(files_of(item)):
                dataset = place.partition("/")[0]
                is_generated = config["datasets"][dataset]["source"] == "embedded"
                if is_generated != knows_only_ours(config, encoder):
                    wrong = generated if is_generated else real
                    wrong["data"].add(dataset)
                    wrong["encoders"].add(encoder)
    texts = (
        (generated, "generated data ({}) under an encoder of real text ({}): the words mean nothing to it; give these"
         " datasets `source: real` or `file`"),
        (real, "real data ({}) under an encoder of the generated language ({}): it knows none of the words; give it an"
         " encoder of `source: hub` or `folder`"),
    )  # fmt: skip
    return [text.format(", ".join(sorted(wrong["data"])), ", ".join(sorted(wrong["encoders"])))
            for wrong, text in texts if wrong["data"]]  # fmt: skip


def knows_only_ours(config: dict, encoder: str) -> bool:
    """Was it trained on the generated language? A random one has the tokenizer of the one it is like."""
    entry = config["encoders"][config["encoders"][encoder].get("like", encoder)]
    corpus = config["datasets"].get(config["pretraining"]["dataset"], {}).get("source")
    return entry["source"] == "shipped" or (entry["source"] == "pretrain" and corpus == "embedded")
