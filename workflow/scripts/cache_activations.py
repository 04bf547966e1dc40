"""Runs models over datasets and stores the vectors of the units that analyses read."""

from functools import lru_cache
from pathlib import Path

import torch
from transformers import PreTrainedModel

from workflow.lib.activations.caching import cache_dataset
from workflow.lib.encoders.loading import load_encoder
from workflow.lib.encoders.weights import digest_of_weights


@lru_cache(maxsize=1)
def loaded(weights: Path) -> tuple[PreTrainedModel, str]:
    """A model and the digest of its weights, loaded once for all its datasets."""
    return load_encoder(weights), digest_of_weights(weights)


if __name__ == "__main__":
    from workflow.lib.base.files import whole_folder
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import encoder_of, file_of, folder_of, model_folder, model_of
    from workflow.lib.encoders.device import choose_device

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    choose_device(snakemake.resources.gpu)
    inputs, settings = snakemake.input, snakemake.params.settings
    for (item, of_item), output in zip(snakemake.params.work.items(), snakemake.output):
        name = model_folder(model_of(item)).partition("/")[2]
        model, encoder = (Path(folder_of(inputs.models, of)) for of in (name, f"encoders/{encoder_of(item)}"))
        paths = tuple(file_of(inputs.data, place) for place in of_item["places"])
        with whole_folder(output) as folder:
            done = cache_dataset(*loaded(model), encoder, paths, folder, settings | of_item)
        log.info("%s: %s", item, done)
