"""The plan of a run: what its papers need, traced from figures back to models, as Snakemake does.

A paper lists the files that its figures, tables and scores are made from. The rest follows from a file's name: which
analysis of which model, which activations that analysis reads, which model they come from. What two papers need is one
item, listed with both papers.
"""

import importlib
from collections.abc import Callable
from copy import copy

from workflow.lib.activations.plan import SAMPLED, STEPS, Cache, matching, sentences_of, widest
from workflow.lib.base.errors import UserError, nearest
from workflow.lib.base.jobs import Job, jobs_of
from workflow.lib.base.names import (
    cache_folder,
    data_file,
    encoder_of,
    folder_name,
    is_given,
    is_pretrained,
    metrics_file,
    model_of,
    models_in,
    place_of,
    target_of,
    task_of,
)
from workflow.lib.base.needs import Needs
from workflow.lib.base.runs import spread_over
from workflow.lib.base.tasks import is_generated, labelled_rows, max_tokens_of, places_of_task, unit_of_task
from workflow.papers import Artifact

# rules whose items may share a process, by the key of `share` in the config
SHARES = {
    "finetune_model": "models",
    "sweep": "sweeps",
    "cache_activations": "activations",
    "cache_temporarily": "activations",
}


def reads_of(method: str) -> Callable[[dict, str, str], list[Cache]]:
    return importlib.import_module(f"workflow.lib.methods.{method}.plan").reads


class Plan:
    """`papers`: the papers of this run, by key (workflow/papers)."""

    def __init__(self, config: dict, papers: dict):
        self.config = config
        self.items: dict[str, dict[str, list[str]]] = {}  # rule -> item -> papers
        self.layers: dict[str, str] = {}  # of each cache
        self.tracked: set[str] = set()  # models whose activations are cached while they are tuned
        self.artifacts = {key: paper.artifacts(config) for key, paper in papers.items()}
        self.papers = {key: paper for key, paper in papers.items() if self.artifacts[key]}
        for key, paper in self.papers.items():
            needs = [needs for _, needs in self.artifacts[key].values()]
            needs += [paper.plan.scored(config)] if paper.is_scored else []
            for file in dict.fromkeys(file for one in needs for file in one.files()):
                self._follow(file, key)

    def _follow(self, file: str, paper: str) -> None:
        stage, _, rest = file.removeprefix("<results>/").partition("/")
        if stage == "analysis":
            method, _, rest = rest.partition("/")
            item = rest.rpartition("/")[0]
            if self._ask(method, item, paper):
                for cache in self.caches(method, item):
                    self._follow_cache(cache, paper)
        elif stage == "sweeps":
            self._ask("sweep", rest.removesuffix(".parquet").rpartition(".")[0], paper)
        elif stage == "models" and not rest.endswith(".distances.parquet"):
            self._ask("finetune_model", rest.removesuffix(".metrics.parquet"), paper)

    def _follow_cache(self, cache: Cache, paper: str) -> None:
        if cache.unit == STEPS:
            self.tracked.add(cache.model)
            self._ask("finetune_model", cache.model, paper)
            return
        self.layers[cache.item] = widest(cache.layers, self.layers.get(cache.item, cache.layers))
        rule = "cache_temporarily" if self.temporary_as(cache.item) else "cache_activations"
        is_tuned_here = not is_pretrained(cache.model) and not is_given(cache.model)
        if self._ask(rule, cache.item, paper) and is_tuned_here:
            self._ask("finetune_model", cache.model, paper)

    def _ask(self, rule: str, item: str, paper: str) -> bool:
        """Record that a paper needs an item; False if that was known."""
        asking = self.items.setdefault(rule, {}).setdefault(item, [])
        if paper in asking:
            return False
        asking.append(paper)
        return True

    def only(self, paper: str, id: str) -> "Plan":
        """The plan of one figure or table alone."""
        part = copy(self)
        part.items, part.layers, part.tracked = {}, {}, set()
        for file in self.needs(paper, id).files():
            part._follow(file, paper)
        return part

    def jobs(self, rule: str) -> list[Job]:
        items, per_job = self.items.get(rule, {}), self.config["share"][SHARES.get(rule, "analyses")]
        if rule == "cache_temporarily" and per_job == 1:
            # a model's all at once, so that its analyses can begin, and its caches go, before the next model has some
            models = dict.fromkeys(map(model_of, items))
            return [Job(f"{rule}_{at}", tuple(item for item in items if model_of(item) == model))
                    for at, model in enumerate(models, 1)]  # fmt: skip
        return jobs_of(rule, items, per_job) if items or rule != "cache_temporarily" else []

    def caches(self, method: str, item: str) -> list[Cache]:
        return reads_of(method)(self.config, model_of(item), target_of(item))

    def activations(self, method: str) -> Callable[[str], list[str]]:
        """For the inputs of a method's rule: item -> folders of the activations that it reads."""
        return lambda item: [cache_folder(cache.item) for cache in self.caches(method, item)]

    def cache_items(self, method: str) -> Callable[[str], list[str]]:
        """The same, as items: for scripts that find the folders among their inputs."""
        return lambda item: [cache.item for cache in self.caches(method, item)]

    def labels(self, method: str) -> Callable[[str], list[str]]:
        """For the inputs of a method's rule: item -> dataset files whose labels it reads."""
        return lambda item: [data_file(cache.place) for cache in self.caches(method, item) if cache.labels]

    def labelled_rows(self, item: str) -> dict:
        return labelled_rows(self.config, target_of(item))

    def training(self, model: str, is_sweep: bool = False) -> dict:
        """Training settings of a model; sweeps follow no steps and score no second split."""
        settings = dict(self.config["tasks"][task_of(model)])
        of_encoders = settings.pop("for_encoder")
        settings |= of_encoders.get(encoder_of(model).partition(".")[0], {})
        if is_sweep:
            settings.pop("also_evaluate", None)
        every = self.config["paths"]["every"] if model in self.tracked and not is_sweep else 0
        return settings | {"save_every": every}

    def steps(self, model: str) -> dict | None:
        """How the activations of a model that is followed are cached while it is tuned; None for other models."""
        if model not in self.tracked:
            return None
        task = task_of(model)
        place = places_of_task(self.config, task)[0]
        how = {"dtype": self.config["activations"]["dtype"]}
        longest = max_tokens_of(self.config, folder_name(place))
        return how | {
            "unit": unit_of_task(self.config, task),
            "layers": "blocks",
            "max_tokens": longest,
            "place": place,
        }

    def training_data(self, model: str) -> list[str]:
        """The rows that a model is trained and scored on."""
        task = self.config["tasks"][task_of(model)]
        places = [*places_of_task(self.config, task_of(model))]
        also = task.get("also_evaluate")
        return [data_file(place) for place in [*places, *([f"{task['dataset']}/{also}"] if also else [])]]

    def data_files(self, key: str | None = None) -> list[str]:
        """All rows that models and caches are made from: of one paper, or of all."""
        reading = dict.fromkeys(("finetune_model", "sweep"), self.training_data)
        reading |= dict.fromkeys(("cache_activations", "cache_temporarily"), self.cache_data)
        items = {rule: self.items_of(rule, key) for rule in reading}
        return list(
            dict.fromkeys(file for rule, read in reading.items() for item in items[rule] for file in read(item))
        )

    def items_of(self, rule: str, key: str | None = None) -> list[str]:
        """Items of a rule that one paper asks for, or any."""
        return [item for item, papers in self.items.get(rule, {}).items() if key is None or key in papers]

    def comparable(self) -> list[str]:
        """Papers whose published numbers stand beside ours: those of this run that read no generated data."""

        def read(key: str) -> set[str]:
            return {file.removeprefix("<results>/data/").partition("/")[0] for file in self.data_files(key)}

        return [key for key in self.papers if not any(is_generated(self.config, name) for name in read(key))]

    def metrics(self, *keys: str) -> list[str]:
        """Scores of the models that are tuned here for these papers."""
        models = (model for key in keys for model in self.items_of("finetune_model", key))
        return list(dict.fromkeys(map(metrics_file, models)))

    def cache_settings(self, item: str) -> dict:
        """Settings of one cached dataset: layers, maximum length, sampling."""
        unit, _, folder = target_of(item).rpartition("/")
        settings = {"layers": self.layers.get(item, "all"), "max_tokens": max_tokens_of(self.config, folder)}
        settings |= {"unit": unit, "places": self._places(item)}
        if unit in SAMPLED:
            rsa = self.config["rsa"]  # enough tokens that every sample can have different ones
            settings |= {
                "rows": rsa["rows"],
                "per_row": rsa["per_example"] * rsa["samples"],
                "seed": self.config["seed"],
            }
        return settings

    def cache_data(self, item: str) -> list[str]:
        """The rows that pass through the model: of several datasets, if these annotate the same sentences."""
        return [data_file(place) for place in self._places(item)]

    def _places(self, item: str) -> list[str]:
        """<dataset>/<split> of a cache's rows: of spans, of all datasets in the config that annotate its sentences."""
        unit, _, folder = target_of(item).rpartition("/")
        place, datasets = place_of(folder), self.config["datasets"]
        if unit != "span":
            return [place]
        split, missing = place.partition("/")[2], self.config["without_licence"]
        known = [name for name, entry in datasets.items() if split in entry["rows"] and name not in missing]
        spans = [name for name in known if self.config["registry"].get(name, {}).get("kind") == "spans"]
        others = [f"{name}/{split}" for name in spans]
        return [other for other in others if sentences_of(self.config, other) == place]

    def temporary_as(self, item: str) -> str | None:
        """What makes a cache temporary; None if it is kept."""
        return matching(item, self.config["activations"]["temporary"])

    def cache_pattern(self) -> str:
        """Which caches are kept, after the encoder: temporary ones have rules without wildcards."""
        entries = "|".join(self.config["activations"]["temporary"]) or "none"
        return rf"[a-z][a-z0-9_.-]*/(?!(?:{entries})[/-])[a-z_]+/[a-z0-9_]+-[a-z0-9_]+"

    def priority(self, method: str) -> int:
        """Of a method's jobs: what frees disk goes before models and caches that would take more."""
        caches = (cache.item for item in self.items.get(method, {}) for cache in self.caches(method, item))
        return 7 if any(map(self.temporary_as, caches)) else 0

    def artifact_files(self, key: str | None = None) -> list[str]:
        """Files of one paper's figures and tables, or of all papers'."""
        chosen = [self.artifacts[key]] if key else self.artifacts.values()
        kind = self.config["figures"]["format"]
        return [file for of_paper in chosen for artifact, _ in of_paper.values() for file in artifact.files(kind)]

    def paper_files(self, key: str) -> list[str]:
        """What `snakemake <paper>` makes: figures, tables, verdicts on the paper's claims, and its page."""
        return [*self.artifact_files(key), *self.scores("claims", key), f"<results>/scorecard/{key}.html"]

    def artifact(self, paper: str, id: str) -> tuple[Artifact, Needs]:
        """An artifact that this run can make; for an unknown name the error suggests the nearest one."""
        if paper not in self.artifacts:
            raise UserError(f"this run has no paper '{paper}'{nearest(paper, list(self.papers))}")
        if id not in self.artifacts[paper]:
            raise UserError(f"{paper} has no '{id}' in this run{nearest(id, list(self.artifacts[paper]))}")
        return self.artifacts[paper][id]

    def script(self, paper: str, id: str) -> str:
        """The script that draws or tabulates an artifact, relative to its paper's folder."""
        return self.artifact(paper, id)[0].script

    def needs(self, paper: str, id: str) -> Needs:
        return self.artifact(paper, id)[1]

    def caption(self, paper: str, id: str) -> str:
        """With what it leaves open filled in: {runs} and {encoders} are what spreads are taken over."""
        (artifact, needs), section = self.artifact(paper, id), self.config[paper]
        n_encoders, n_seeds = (len(section.get(key, [0])) for key in ("encoders", "seeds"))
        spreads = {"runs": spread_over(n_encoders, n_seeds), "encoders": spread_over(n_encoders)}
        dashed = " Dashed curves are the paper's." if needs.settings.get("published") else ""
        text = artifact.caption.format_map(needs.settings | spreads | {"dashed": dashed})
        return f"{text} {self._made_with(needs)}"

    def _made_with(self, needs: Needs) -> str:
        """What a reader of a single figure must know: the run, encoders and fine-tuning seeds of its models, and n."""
        models = models_in(needs.files())
        encoders = ", ".join(dict.fromkeys(map(encoder_of, models)))
        seeds = ", ".join(sorted({model.rpartition(".s")[2] for model in models if ".s" in model}, key=int))
        parts = [f"encoders {encoders}"] if encoders else []
        parts += [f"fine-tuning seed{'s' if ',' in seeds else ''} {seeds}"] if seeds else []
        rows: dict[str, list[str]] = {}
        for place, n in dict.fromkeys(shown for file in needs.files() for shown in self._rows_shown(file)):
            rows.setdefault("all" if n is None else f"{n:,}", []).append(place)
        parts += [f"{n} rows of {', '.join(places)}" for n, places in rows.items()]
        return f"Run {self.config['run']}{': ' if parts else ''}{'; '.join(parts)}."

    def _rows_shown(self, file: str) -> list[tuple[str, int | None]]:
        """(<dataset>/<split>, rows) that a file's numbers are of: those that a model was scored on; of an analysis
        those that it neither learnt from nor stopped by, or, if it reads no others, these. None: all that there are."""
        stage, _, rest = file.removeprefix("<results>/").partition("/")
        if stage == "analysis":
            method, _, rest = rest.partition("/")
            caches = self.caches(method, rest.rpartition("/")[0])
            shown = [cache for cache in caches if cache.place.partition("/")[2] not in ("train", "dev")] or caches
            return [(cache.place, self._n_rows(cache.place, cache.unit in SAMPLED)) for cache in shown]
        is_scores = stage in ("models", "sweeps") and not rest.endswith(".distances.parquet")
        tested = [places_of_task(self.config, task_of(rest))[1]] if is_scores else []
        return [(place, self._n_rows(place)) for place in tested]

    def _n_rows(self, place: str, is_sampled: bool = False) -> int | None:
        dataset, split = place.split("/")
        n = self.config["datasets"][dataset]["rows"][split]
        return min(n or self.config["rsa"]["rows"], self.config["rsa"]["rows"]) if is_sampled else n

    def unknown_target(self, name: str) -> list[str]:
        """Raise an error for a name that is neither a rule nor a file, suggesting the nearest target."""
        artifacts = {f"{key}_{id}": made[0] for key, of in self.artifacts.items() for id, made in of.items()}
        known = [*self.papers, "all", "scorecard", "page", "compare", *artifacts]
        hint = nearest(name, known) if name.replace("/", "_") not in artifacts else ""
        found = artifacts.get(name.replace("/", "_"))
        file = found and found.files(self.config["figures"]["format"])[0]
        path = f"; ask for its file, {file.replace('<results>', 'results/' + self.config['run'])}" if file else ""
        raise UserError(f"no target is called '{name}'{hint}{path}")

    @property
    def scored(self) -> list[str]:
        return [key for key, paper in self.papers.items() if paper.is_scored]

    def scores(self, what: str, key: str | None = None) -> list[str]:
        """Files of measured numbers or of claims: of one paper, or of all."""
        return [f"<results>/scorecard/{paper}.{what}.parquet" for paper in self.scored if key in (None, paper)]

    def published(self, key: str | None = None) -> list[str]:
        """Files of the numbers that papers have published."""
        files = (self.papers[paper].published for paper in self.scored if key in (None, paper))
        return [file for file in files if file]

    def unmeasured(self) -> dict[str, dict[str, str]]:
        """By paper, published numbers that this run cannot have, and what they need."""
        papers = {key: paper.plan for key, paper in self.papers.items() if hasattr(paper.plan, "unmeasured")}
        return {key: plan.unmeasured(self.config) for key, plan in papers.items()}

    def notes(self) -> list[str]:
        """What a reader must know before comparing numbers: notes on encoders, and which data are stand-ins."""
        encoders = self.config["encoders"]
        notes = [f"{name}: {entry['note']}" for name, entry in encoders.items() if entry.get("note")]
        embedded = [name for name in self.config["datasets"] if is_generated(self.config, name)]
        if embedded:
            text = (
                f"Stand-in data from the embedded corpus ({', '.join(embedded)}): published numbers are no target here."
            )
            notes.append(f"{text} What compares is the shape of curves, and whether claims hold.")
        if without := self.config["without_licence"]:
            instead = "".join(f"; {stand_in} stands in for {name}" for name, stand_in in without.items() if stand_in)
            text = f"Under licence, and no folder `licensed` is given: {', '.join(without)}"
            notes.append(f"{text}. Published rows of these are not measured{instead}.")
        return notes
