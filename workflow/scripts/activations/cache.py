"""Run a model over datasets and keep what every layer says of their units."""

import torch

from workflow.lib.datasets import read_dataset
from workflow.lib.encoders.loading import load_encoder, load_tokenizer, max_tokens
from workflow.lib.encoding import encode
from workflow.lib.extraction import digest_of_weights, extract

if __name__ == "__main__":
    from workflow.lib.files import whole_folder
    from workflow.lib.logs import to_rule_log

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    unit, settings = snakemake.wildcards.unit, snakemake.params.settings
    model = load_encoder(snakemake.input.model)
    tokenizer = load_tokenizer(snakemake.input.model, for_words=unit == "word")
    longest = min(settings["max_tokens"], max_tokens(model, tokenizer))
    digest = digest_of_weights(snakemake.input.model)
    with whole_folder(snakemake.output[0]) as folder:
        for path in snakemake.input.data:
            table, info = read_dataset(path)
            encoded = encode(table, info, tokenizer, longest, by_word=unit == "word")
            name = f"{info['dataset']}-{info['split']}"
            about = {"model": digest, "dataset": info["digest"]}
            n_units = extract(model, encoded, unit, folder / name, about, settings["batch_size"], settings["dtype"])
            log.info(
                "%s: %d units of %d rows, %d cut to %d tokens", name, n_units, len(table), encoded.n_truncated, longest
            )
