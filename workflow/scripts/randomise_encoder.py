"""Makes an untrained encoder of the same shape: the control for claims about pre-training."""

import torch
from transformers import AutoModel, PreTrainedModel

from workflow.lib.encoders.loading import load_encoder, load_tokenizer


def untrained_like(encoder: PreTrainedModel, seed: int) -> PreTrainedModel:
    torch.manual_seed(seed)
    return AutoModel.from_config(encoder.config)


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.seals import sealed_folder

    to_rule_log(snakemake.log[0])
    with sealed_folder(snakemake.output[0]) as folder:
        untrained_like(load_encoder(snakemake.input[0]), int(snakemake.wildcards.seed)).save_pretrained(folder)
        load_tokenizer(snakemake.input[0]).save_pretrained(folder)
