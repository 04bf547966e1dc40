"""Pre-trains a BERT of any size on a text dataset: masked-language modelling and next-sentence prediction."""

import json

import torch
from safetensors.torch import save_file
from transformers import BertForPreTraining

from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.encoders.loading import load_tokenizer
from workflow.lib.training.pretraining.loop import held_out_losses, new_model, pretrain
from workflow.lib.training.pretraining.pairs import read_pairs
from workflow.lib.training.state import SavedState


def heads_of(model: BertForPreTraining) -> dict[str, torch.Tensor]:
    """What only pre-training needs, so that its losses can be measured again; the decoder is tied to other weights."""
    return {name: weight for name, weight in model.cls.state_dict().items() if ".decoder." not in name}


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.seals import sealed_folder
    from workflow.lib.base.tables import write_table
    from workflow.lib.encoders.device import choose_device

    log = to_rule_log(snakemake.log[0])
    torch.set_num_threads(snakemake.threads)
    choose_device(snakemake.resources.gpu)
    settings, shape, seed = snakemake.params.settings, snakemake.params.shape, int(snakemake.wildcards.seed)
    tokenizer = load_tokenizer(snakemake.input.tokenizer)
    special = {name: getattr(tokenizer, f"{name}_token_id") for name in ("pad", "cls", "sep", "mask")}
    table, info = read_dataset(snakemake.input.data)
    pairs = read_pairs(table, tokenizer, settings["max_tokens"])
    model = new_model(shape, settings, len(tokenizer), seed)
    vocabulary = tokenizer.backend_tokenizer.to_str()
    made_from = [settings, shape, seed, snakemake.params.modules, info["digest"], vocabulary]
    state = SavedState(snakemake.output[0], made_from)
    history = pretrain(model, pairs, special, settings, seed, state, log)
    held_out = read_pairs(read_dataset(snakemake.input.held_out)[0], tokenizer, settings["max_tokens"])
    losses = held_out_losses(model, held_out, special, settings["mask_share"])
    log.info("held-out text: %s", losses)
    record = {"shape": shape, "seed": seed, "pretraining": settings, "rows": info["rows"], "held_out": losses}
    with sealed_folder(snakemake.output[0]) as folder:
        model.bert.save_pretrained(folder)
        save_file(heads_of(model), folder / "pretraining_heads.safetensors")
        tokenizer.save_pretrained(folder)
        write_table(history, folder / "history.parquet")
        (folder / "pretraining.json").write_text(json.dumps(record, indent=1))
    state.remove()
