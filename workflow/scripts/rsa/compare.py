"""A tuned model against the encoder it came from: similarity of their spaces, place by place and layer by layer."""

from pathlib import Path

from workflow.lib.rsa_layers import compare

if __name__ == "__main__":
    from workflow.lib.logs import to_rule_log
    from workflow.lib.tables import write_table

    log = to_rule_log(snakemake.log[0])
    rows = []
    for place in snakemake.params.places:
        base, tuned = (Path(folder) / "token" / place for folder in (snakemake.input.base, snakemake.input.tuned))
        found = list(compare(base, tuned, **snakemake.params.settings, seed=snakemake.params.seed))
        rows += [{"place": place, **row} for row in found]
        log.info("%s: %d tokens, similarity %.3f at the embeddings, %.3f at the top", place, found[0]["n_tokens"],
                 found[0]["similarity"], found[-1]["similarity"])  # fmt: skip
    write_table(rows, snakemake.output[0], model=snakemake.wildcards.model)
