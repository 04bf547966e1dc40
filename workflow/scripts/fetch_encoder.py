"""Fetches an encoder from the Hub, or from a local folder. Only data files, never code."""

from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.base.paths import is_file, local
from workflow.lib.data.revisions import LOCK
from workflow.lib.encoders.fetching import download


def check_folder(path: str) -> Path:
    folder = local(path)
    if not is_file(folder / "config.json"):
        raise UserError(
            f"encoder folder {path} has no config.json: it must hold config.json, weights and tokenizer files"
        )
    return folder


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.seals import sealed_folder
    from workflow.lib.encoders.layers import blocks
    from workflow.lib.encoders.loading import load_encoder, load_tokenizer

    log = to_rule_log(snakemake.log[0])
    asked = snakemake.params.encoder
    source = check_folder(asked["path"]) if "path" in asked else download(asked["id"], asked.get("revision"))
    if "id" in asked and "path" not in asked:
        log.info("%s at %s%s", asked["id"], source.name, "" if asked.get("revision") else f", recorded in {LOCK}")
    # loading and saving checks the files now rather than after an hour, and drops what does not belong to the encoder
    encoder, tokenizer = load_encoder(source), load_tokenizer(source)
    log.info("%s: %d layers, width %d", type(encoder).__name__, len(blocks(encoder)), encoder.config.hidden_size)
    with sealed_folder(snakemake.output[0]) as folder:
        encoder.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
