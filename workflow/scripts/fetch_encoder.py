"""Fetches an encoder from the Hub at a pinned revision, or from a local folder. Only data files, never code."""

from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.data.hub import snapshot

# weights in the safe format, tokenizer files and configuration: nothing executable
WANTED = ["config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer*.json", "special_tokens_map.json",
          "vocab.txt", "vocab.json", "merges.txt"]  # fmt: skip
WEIGHTS_WITHOUT_SAFETENSORS = ["pytorch_model.bin"]  # older checkpoints; loaded with weights_only


def download(repository: str, revision: str) -> Path:
    try:
        found = snapshot(repository, revision, WANTED, "model")
        if not list(found.glob("*.safetensors")):
            found = snapshot(repository, revision, WANTED + WEIGHTS_WITHOUT_SAFETENSORS, "model")
    except Exception as error:  # any failure of the network or the Hub: the user's remedy is the same
        raise UserError(
            f"encoder {repository} at revision {revision} is neither in the local cache nor reachable on the Hub "
            f"({type(error).__name__}); download it elsewhere and give the encoder `source: folder, path: <folder>`"
        ) from error
    return found


def check_folder(path: str) -> Path:
    folder = Path(path).expanduser()
    if not (folder / "config.json").is_file():
        raise UserError(
            f"encoder folder {path} has no config.json: it must hold config.json, weights and tokenizer files"
        )
    return folder


if __name__ == "__main__":
    from workflow.lib.base.files import whole_folder
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.encoders.layers import blocks
    from workflow.lib.encoders.loading import load_encoder, load_tokenizer

    log = to_rule_log(snakemake.log[0])
    asked = snakemake.params.encoder
    source = check_folder(asked["path"]) if "path" in asked else download(asked["id"], asked["revision"])
    # loading and saving checks the files now rather than after an hour, and drops what does not belong to the encoder
    encoder, tokenizer = load_encoder(source), load_tokenizer(source)
    log.info("%s: %d layers, width %d", type(encoder).__name__, len(blocks(encoder)), encoder.config.hidden_size)
    with whole_folder(snakemake.output[0]) as folder:
        encoder.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
