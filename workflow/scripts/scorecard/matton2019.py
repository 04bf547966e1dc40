"""matton2019's measured numbers, named like the published ones, and its claims."""

import pandas as pd

from workflow.lib.claims.matton2019 import all_claims
from workflow.lib.matton2019 import component_losses, leading_run, selected_accuracies, variance_ratios
from workflow.lib.repetitions import spread


def measured(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Rows (artifact, series, x, measured, sd, n) with the keys of config/published/matton2019.csv."""
    scores = selected_accuracies(tables["greedy"])
    rows = [(f"{row.state}_{row.neurons}", "table3", row.task, row.accuracy) for row in scores.itertuples()]
    rows += [("pretrained", "table2", row.task, row.accuracy)
             for row in scores.query("state == 'pretrained' and neurons == 'all'").itertuples()]  # fmt: skip
    rows += [("finetuned", "table2", row.task, 100 * row.test_accuracy) for row in tables["metrics"].itertuples()]
    rows += [(f"loss_pp_at_{row.components}_components", "section3.1.2", row.task, row.loss)
             for row in component_losses(tables["accuracy"]).itertuples()]  # fmt: skip
    ratios = variance_ratios(tables["variance"])
    rows += [(str(row.component), "fig4", row.task, row.ratio) for row in ratios.itertuples()]
    for (task, _, _), run in ratios.groupby(["task", "encoder", "seed"], sort=False):
        rows.append(
            ("last_leading_ratio_above_1", "fig4", task, leading_run(run.sort_values("component")["ratio"].tolist()))
        )
    frame = pd.DataFrame(rows, columns=["x", "artifact", "series", "value"])
    return spread(frame, ["artifact", "series", "x"], "value").rename(columns={"mean": "measured"})


if __name__ == "__main__":
    from workflow.lib.logs import to_rule_log
    from workflow.lib.tables import read_tables, write_table

    to_rule_log(snakemake.log[0])
    tables = {name: read_tables(files) for name, files in snakemake.input.items()}
    write_table(measured(tables), snakemake.output.measured)
    write_table([vars(claim) for claim in all_claims(tables)], snakemake.output.claims)
