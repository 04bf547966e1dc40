"""Run every saved step of a model over its training data and keep what each layer says."""

import torch

from workflow.lib.datasets import read_dataset
from workflow.lib.encoders.loading import load_encoder, load_tokenizer, max_tokens
from workflow.lib.encoding import encode
from workflow.lib.errors import UserError
from workflow.lib.extraction import digest_of_weights, extract

if __name__ == "__main__":
    from pathlib import Path

    from workflow.lib.files import whole_folder
    from workflow.lib.logs import to_rule_log

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    unit, settings = snakemake.params.unit, snakemake.params.settings
    steps = sorted(path for path in (Path(snakemake.input.model) / "steps").glob("*") if path.is_dir())
    if not steps:
        raise UserError(f"{snakemake.input.model} holds no saved steps; delete it and run again")
    tokenizer = load_tokenizer(snakemake.input.model, for_words=unit == "word")
    table, info = read_dataset(snakemake.input.data)
    encoded = None
    with whole_folder(snakemake.output[0]) as folder:
        for step in steps:
            model = load_encoder(step)
            if encoded is None:
                longest = min(settings["max_tokens"], max_tokens(model, tokenizer))
                encoded = encode(table, info, tokenizer, longest, by_word=unit == "word")
            about = {"model": digest_of_weights(step), "dataset": info["digest"], "step": int(step.name)}
            written = (settings["batch_size"], settings["dtype"])
            n_units = extract(model, encoded, unit, folder / step.name, about, *written)
            log.info("step %s: %d units", step.name, n_units)
