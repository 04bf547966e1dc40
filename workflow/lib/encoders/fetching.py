"""Fetches an encoder's files from the Hub: only data, never code.

The revision is the config's, or the one that the first fetch recorded (revisions.lock.json).
"""

from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.data.hub import newest_commit, snapshot
from workflow.lib.data.revisions import record, recorded

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
