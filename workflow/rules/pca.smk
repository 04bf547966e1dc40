"""How few dimensions are enough? Principal components of the last layer's [CLS] vectors (matton2019, section 3.1).

in   activations of a model: general sentences, and its tasks' training and evaluation texts
out  analysis/pca/<model>/accuracy.parquet   task, series, dimensions, draw, accuracy
     analysis/pca/<model>/variance.parquet   component, explained (share of variance, general sentences)
     analysis/pca/<model>/samples.parquet    task, sample_size, draw, accuracy
how  PCA fitted on general sentences, on the task's own texts, or raw dimensions drawn at random; then a softmax classifier
"""


rule pca_accuracy:
    """Accuracy against retained dimensions, variance of components, and the effect of the PCA's sample size."""
    input:
        activations=lambda w: cache_of(w.model, "matton2019"),
        data=lambda w: [
            data_file(place) for task in matton_tasks(w.model) for place in task_places(task)
        ],
    output:
        accuracy="<results>/analysis/pca/{model}/accuracy.parquet",
        variance="<results>/analysis/pca/{model}/variance.parquet",
        samples="<results>/analysis/pca/{model}/samples.parquet",
    log:
        "<results>/logs/pca/{model}.log",
    benchmark:
        "<results>/benchmarks/pca/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=120,
    params:
        general=folder_name(config["matton2019"]["general"]),
        tasks=lambda w: {task: task_data(task) for task in matton_tasks(w.model)},
        settings=matton_settings(
            "components",
            "random_draws",
            "sample_sizes",
            "sample_components",
            "variance_components",
            "regularisation",
        ),
        seed=config["seed"],
        modules=digest_of("pca/accuracy.py"),
    script:
        "../scripts/pca/accuracy.py"
