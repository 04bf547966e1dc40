"""Takes a model that somebody else tuned: is it its encoder's, and how far did its weights move?"""

from workflow.lib.base.errors import UserError


def check_tokens(encoder, tuned, path: str) -> None:
    """Tokens are the encoder's: the same piece must have the same number in both."""
    if encoder.get_vocab() != tuned.get_vocab():
        raise UserError(f"{path} has another vocabulary than its encoder: their tokens cannot be compared")


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.seals import sealed_folder
    from workflow.lib.base.tables import write_table
    from workflow.lib.encoders.loading import load_encoder, load_tokenizer
    from workflow.lib.methods.weights.distances import block_distances

    log = to_rule_log(snakemake.log[0])
    path, params = snakemake.params.path, snakemake.params
    encoder, tuned = load_encoder(snakemake.input.encoder), load_encoder(path)
    tokenizer = load_tokenizer(snakemake.input.encoder)
    check_tokens(tokenizer, load_tokenizer(path), path)
    moved = block_distances(encoder, tuned, **params.weights)
    with sealed_folder(snakemake.output.model) as folder:
        tuned.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    write_table(moved, snakemake.output.distances, model=params.model)
    log.info("%s: %s, %d blocks", params.model, type(tuned).__name__, tuned.config.num_hidden_layers)
