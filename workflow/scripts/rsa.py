"""Representational similarity of fine-tuned models and their encoders, layer by layer."""

from workflow.lib.methods.rsa.layers import compare

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.names import folder_of, model_of, target_of
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    params = snakemake.params
    for (item, caches), output in zip(params.work.items(), snakemake.output):
        base, tuned = (folder_of(snakemake.input.activations, cache) for cache in caches)
        rows = list(compare(base, tuned, **params.settings, seed=params.seed))
        write_table(rows, output, model=model_of(item), text=target_of(item))
        log.info("%s: %d tokens, similarity %.3f at the embeddings, %.3f at the top", item, rows[0]["n_tokens"],
                 rows[0]["similarity"], rows[-1]["similarity"])  # fmt: skip
