"""Tuned models against the encoder they came from: similarity of their spaces, place by place and layer by layer."""

from workflow.lib.activations.cache import caches_of_both
from workflow.lib.methods.rsa.layers import compare

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_table

    log = to_rule_log(snakemake.log[0])
    rows = []
    for model, places in snakemake.params.places.items():
        base, tuned = caches_of_both(snakemake.input, model)
        for place in places:
            caches = base / "token" / place, tuned / "token" / place
            found = list(compare(*caches, **snakemake.params.settings, seed=snakemake.params.seed))
            rows += [{"model": model, "place": place, **row} for row in found]
            log.info("%s, %s: %d tokens, similarity %.3f at the embeddings, %.3f at the top", model, place,
                     found[0]["n_tokens"], found[0]["similarity"], found[-1]["similarity"])  # fmt: skip
    write_table(rows, snakemake.output[0])
