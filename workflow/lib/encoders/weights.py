"""What an encoder's folder holds, as a short digest. Apart, so that training does not depend on what else needs it."""

import hashlib
from pathlib import Path


def digest_of_weights(folder: str | Path) -> str:
    digest = hashlib.sha256()
    for path in sorted([*Path(folder).glob("*.safetensors"), *Path(folder).glob("*.bin")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
