"""Representational similarity of a fine-tuned model and its encoder, layer by layer."""

from workflow.lib.methods.rsa.layers import compare

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    wildcards, params = snakemake.wildcards, snakemake.params
    base, tuned = snakemake.input.activations
    rows = list(compare(base, tuned, **params.settings, seed=params.seed))
    write_table(rows, snakemake.output[0], model=f"{wildcards.encoder}/{wildcards.adapted}", text=wildcards.text)
    log.info("%d tokens, similarity %.3f at the embeddings, %.3f at the top", rows[0]["n_tokens"],
             rows[0]["similarity"], rows[-1]["similarity"])  # fmt: skip
