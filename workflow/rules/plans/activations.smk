"""What is cached of which models, and in which jobs. No rules here."""


def dealt(items, per_job):
    """Items by job; `per_job` None: all in one, because importing torch costs more than a small item."""
    size = per_job or max(1, len(items))
    return [items[start : start + size] for start in range(0, len(items), size)]


def cached_models(paper):
    """All models whose activations a paper looks at."""
    models = {
        "matton2019": matton_cached,
        "merchant2020": merchant_cached,
        "singh2020": singh_cached,
        "zhou2022": zhou_cached,
        "beyond": depth_cached,
    }[paper]()
    return list(dict.fromkeys(models))


def cache_parts(encoder, paper):
    """The models of an encoder, job by job."""
    models = [model for model in cached_models(paper) if encoder_of(model) == encoder]
    return dealt(models, config["activations"]["models_per_job"])


def cache_of(model, paper):
    """The folder in which a paper's activations of a model are; it may hold other models of the same encoder too.

    It is named after the first of them, not numbered: another seed or task must not move the models that were there.
    """
    return f"<results>/activations/{encoder_of(model)}/{paper}/{first_beside(model, paper)}"


def first_beside(model, paper):
    """The first of the models that share a folder with this one."""
    for models in cache_parts(encoder_of(model), paper):
        if model in models:
            return adapted_of(models[0])
    raise WorkflowError(f"{model} is none of the models that config's {paper} names")


def models_in(encoder, paper, first):
    """The models whose activations are in one folder: those of one job."""
    for models in cache_parts(encoder, paper):
        if adapted_of(models[0]) == first:
            return models
    raise WorkflowError(f"{paper} has no cache {first} of {encoder}")


def cached_in(wildcards):
    return models_in(wildcards.encoder, wildcards.paper, wildcards.first)


def analysis_by_cache(models, paper, method, table):
    """Tables of a method whose jobs look at all models of a folder of activations, as `<encoder>/<first>` names it."""
    folders = dict.fromkeys(f"{encoder_of(model)}/{first_beside(model, paper)}" for model in models)
    return [f"<results>/analysis/{method}/{folder}/{table}.parquet" for folder in folders]


def cache_data(wildcards):
    places = [
        place for model in cached_in(wildcards) for place in places_of(model, wildcards.paper)
    ]
    return [data_file(place) for place in dict.fromkeys(places)]


def cache_plan(wildcards):
    """What is run through each model: datasets by unit, most rows and tokens of some, and what saved steps see."""
    paper = wildcards.paper
    return {
        adapted_of(model): {
            "units": {
                unit: [folder_name(place) for place in places]
                for unit, places in inputs_of(model, paper).items()
            },
            "limits": row_limits(model, paper),
            "longest": cut_as_trained(paper),
            "followed": followed_data(model) if paper == "zhou2022" else {},
        }
        for model in cached_in(wildcards)
    }


def cut_as_trained(paper):
    """Most tokens by dataset, where classifiers on cached vectors stand beside models: both must see the same texts."""
    tasks = {"matton2019": config["matton2019"]["tasks"], "singh2020": singh_tasks()}.get(paper, [])
    return {
        folder_name(place): training_of(config, task)["max_tokens"]
        for task in tasks
        for place in task_places(task)
    }


def inputs_of(model, paper):
    """Datasets that a paper looks at a model with, as `<dataset>/<split>`, by unit (texts, words or tokens)."""
    inputs = {
        "matton2019": matton_inputs_of,
        "merchant2020": merchant_inputs_of,
        "singh2020": singh_inputs_of,
        "zhou2022": zhou_inputs_of,
        "beyond": depth_inputs_of,
    }[paper](model)
    return {unit: list(dict.fromkeys(places)) for unit, places in inputs.items()}


def places_of(model, paper):
    return [place for places in inputs_of(model, paper).values() for place in places]


def task_inputs(tasks):
    """Training and evaluation rows of tasks, by the unit that their heads read."""
    inputs = {}
    for task in tasks:
        inputs.setdefault(unit_of(task), []).extend(task_places(task))
    return inputs
