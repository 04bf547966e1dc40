"""Structural probes on every layer of models, trained on a treebank's train and dev, scored on its test sentences."""

import torch

from workflow.lib.methods.structural.plan import SPLITS
from workflow.lib.methods.structural.scores import Evaluation
from workflow.lib.methods.structural.settings import StructuralSettings, settings_from
from workflow.lib.methods.structural.training import Probe, train_probes
from workflow.lib.methods.structural.words import TreebankWords, layer_groups


def vectors_by_layer(words: TreebankWords, layers: list[int], device: str) -> dict[int, torch.Tensor]:
    return {layer: torch.from_numpy(words.layer(layer)).to(device) for layer in layers}


def score_rows(probe: Probe, vectors: torch.Tensor, evaluation: Evaluation) -> tuple[list[dict], list[dict]]:
    """Rows of the tables `scores` and `by_length` for one probe."""
    projected = (vectors @ probe.weights.to(vectors.device)).cpu().numpy()
    scores = getattr(evaluation, probe.probe)(projected)
    about = {"layer": probe.layer, "probe": probe.probe}
    trained = {"rank": probe.weights.shape[1], "epochs": probe.epochs}
    return (
        [
            about | {"measure": measure, "value": value} | trained | {"n_sentences": n}
            for measure, (value, n) in scores.measures.items()
        ],
        [
            about | {"length": length, "n_sentences": n, "spearman": value}
            for length, (value, n) in scores.by_length.items()
        ],
    )


def probe_layers(
    train: TreebankWords, dev: TreebankWords, test: TreebankWords, settings: StructuralSettings, seed: int, device: str
) -> tuple[list[dict], list[dict]]:
    """Rows of the tables `scores` and `by_length` for all layers; as many as fit in memory are trained together."""
    evaluation = Evaluation(test.trees, settings.min_length, settings.max_length)
    scores, by_length = [], []
    for layers in layer_groups(len(train.files), train.bytes_per_layer + dev.bytes_per_layer):
        fitted, held_out = (vectors_by_layer(words, layers, device) for words in (train, dev))
        probes = train_probes((fitted, train.trees), (held_out, dev.trees), settings, seed)
        del fitted, held_out
        for layer in layers:
            vectors = torch.from_numpy(test.layer(layer)).to(device)
            for probe in (probe for probe in probes if probe.layer == layer):
                of_probe, of_lengths = score_rows(probe, vectors, evaluation)
                scores += of_probe
                by_length += of_lengths
    return scores, by_length


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import file_of, folder_of, model_of, target_of
    from workflow.lib.base.tables import write_table
    from workflow.lib.encoders.device import choose_device, with_float64

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    device = with_float64(choose_device(snakemake.resources.gpu))
    inputs, outputs, params = snakemake.input, snakemake.output, snakemake.params
    for item, scores, by_length in zip(params.work, outputs.scores, outputs.by_length):
        model, treebank = model_of(item), target_of(item)
        splits = {
            split: TreebankWords(
                folder_of(inputs.activations, f"{model}/word/{treebank}-{split}"),
                file_of(inputs.data, f"{treebank}/{split}"),
            )
            for split in SPLITS
        }
        log.info("%s, sentences: %s", item, {split: len(words.trees) for split, words in splits.items()})
        found = probe_layers(**splits, settings=settings_from(params.settings), seed=params.seed, device=device)
        for row in found[0]:
            log.info("layer %(layer)d %(probe)s %(measure)s %(value).4f after %(epochs)d epochs", row)
        write_table(found[0], scores, model=model)
        write_table(found[1], by_length, model=model)
