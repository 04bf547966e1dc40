"""Fetches an encoder from the Hub, or from a local folder. Only data files, never code.

The revision is the config's, or the one that the first fetch recorded (revisions.lock.json).
"""

from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.base.paths import is_file, local
from workflow.lib.data.hub import newest_commit, snapshot
from workflow.lib.data.revisions import LOCK, record, recorded

# weights in the safe format, tokenizer files and configuration: nothing executable
WANTED = ["config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer*.json", "special_tokens_map.json",
          "vocab.txt", "vocab.json", "merges.txt"]  # fmt: skip
WEIGHTS_WITHOUT_SAFETENSORS = ["pytorch_model.bin"]  # older checkpoints; loaded with weights_only


def download(repository: str, revision: str | None = None) -> Path:
    """`revision`: None for the recorded one; the first time it is the newest, which is then recorded."""
    try:
        pinned = revision or recorded(repository)
        revision = pinned or newest_commit(repository, "model")
        found = snapshot(repository, revision, WANTED, "model")
        if not list(found.glob("*.safetensors")):
            found = snapshot(repository, revision, WANTED + WEIGHTS_WITHOUT_SAFETENSORS, "model")
    except UserError:
        raise
    except Exception as error:  # any failure of the network or the Hub: the user's remedy is the same
        raise UserError(
            f"encoder {repository} at revision {revision or 'main'} is neither in the local cache nor reachable on the"
            f" Hub ({type(error).__name__}); download it elsewhere and give the encoder a `path: <folder>`"
        ) from error
    if not pinned:
        # after the fetch: a commit that could not be fetched is none to keep to
        return found if record(repository, revision) == revision else download(repository)
    return found


def check_folder(path: str) -> Path:
    folder = local(path)
    if not is_file(folder / "config.json"):
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
    source = check_folder(asked["path"]) if "path" in asked else download(asked["id"], asked.get("revision"))
    if "id" in asked and "path" not in asked:
        log.info("%s at %s%s", asked["id"], source.name, "" if asked.get("revision") else f", recorded in {LOCK}")
    # loading and saving checks the files now rather than after an hour, and drops what does not belong to the encoder
    encoder, tokenizer = load_encoder(source), load_tokenizer(source)
    log.info("%s: %d layers, width %d", type(encoder).__name__, len(blocks(encoder)), encoder.config.hidden_size)
    with whole_folder(snakemake.output[0]) as folder:
        encoder.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
