"""Published numbers, measured numbers and claims side by side."""

import pandas as pd

from workflow.lib.base.markdown import markdown_row, markdown_text
from workflow.lib.base.measured import compared


def number(value: float, form: str) -> str:
    return "–" if value != value else f"{value:{form}}"


def as_markdown(run: str, numbers: pd.DataFrame, claims: pd.DataFrame, notes: list[str]) -> str:
    lines = [f"# Scorecard of the run `{run}`", ""]
    lines += [f"> {markdown_text(note)}" for note in notes] + [""]
    counts = claims["verdict"].value_counts()
    lines += [f"Claims: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}.", ""]
    lines += ["| paper | claim | read from | verdict | evidence |", "| --- | --- | --- | --- | --- |"]
    lines += [
        markdown_row([c.paper, c.statement, c.artifact, f"**{c.verdict}**", c.evidence]) for c in claims.itertuples()
    ]
    lines += ["", "| paper | artifact | series | x | published | measured | difference | within tolerance |",
              "| --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for row in numbers.itertuples():
        shown = f"{number(row.measured, '.2f')}{'' if row.sd != row.sd else f' ± {row.sd:.2f}'}"
        cells = (
            row.paper,
            row.artifact,
            row.series,
            row.x,
            f"{row.published:g}",
            shown,
            number(row.difference, "+.2f"),
        )
        lines.append(markdown_row([*cells, row.within]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from workflow.lib.base.files import whole_file
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_table

    to_rule_log(snakemake.log[0])
    job = snakemake.input
    numbers = compared(job.published, job.measured, snakemake.params.unmeasured)
    claims = [read_table(path) for path in job.claims]
    claims = pd.concat(claims) if claims else pd.DataFrame(columns=["paper", "statement", "verdict"])
    with whole_file(snakemake.output.csv) as beside:
        numbers.to_csv(beside, index=False)
    with whole_file(snakemake.output.md) as beside:
        beside.write_text(as_markdown(snakemake.params.run, numbers, claims, snakemake.params.notes))
