"""Which single dimensions carry a task? Salient neurons of the last layer's [CLS] vectors (matton2019, section 3.2).

in   activations of a model on its tasks' training and evaluation texts
out  analysis/neurons/<model>/greedy.parquet  task, n_classes, step (0 = all), neuron, cv_accuracy, test_accuracy
     analysis/neurons/<model>/alone.parquet   task, neuron, accuracy (test, that neuron alone)
     analysis/neurons/<model>/best.parquet    task, label, activation (test texts, the best neuron)
how  greedy addition by 5-fold cross-validation on train, all candidates at once; evaluated on test
"""


rule search_neurons:
    """Search the neurons of a model that carry its tasks."""
    input:
        activations=lambda w: cache_of(w.model, "matton2019"),
        data=lambda w: [
            data_file(place) for task in matton_tasks(w.model) for place in task_places(task)
        ],
    output:
        greedy="<results>/analysis/neurons/{model}/greedy.parquet",
        alone="<results>/analysis/neurons/{model}/alone.parquet",
        best="<results>/analysis/neurons/{model}/best.parquet",
    log:
        "<results>/logs/neurons/{model}.log",
    benchmark:
        "<results>/benchmarks/neurons/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=growing(6000),
        runtime=240,
    params:
        tasks=lambda w: {task: task_data(task) for task in matton_tasks(w.model)},
        settings=matton_settings("folds", "search_neurons", "search_rows", "regularisation"),
        seed=config["seed"],
        modules=digest_of("neurons/search.py"),
    script:
        "../scripts/neurons/search.py"
