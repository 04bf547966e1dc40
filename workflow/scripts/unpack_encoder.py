"""Unpacks an encoder that comes with the workflow (float16) into the run, in float32."""

from workflow.lib.encoders.shipping import checked_weights

if __name__ == "__main__":
    import shutil
    from pathlib import Path

    from safetensors.numpy import save_file

    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.seals import sealed_folder

    log = to_rule_log(snakemake.log[0])
    source = Path(snakemake.input[0]).parent
    weights = checked_weights(source)
    with sealed_folder(snakemake.output[0]) as folder:
        for file in source.glob("*.json"):
            shutil.copy(file, folder)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    log.info("%s: %d tensors", source.name, len(weights))
