"""Published numbers, measured numbers and claims side by side."""

from pathlib import Path

import pandas as pd

COLUMNS = ["paper", "artifact", "series", "x", "published", "measured", "sd", "n", "difference", "tolerance", "within"]


def compare(
    published: pd.DataFrame, measured: pd.DataFrame, paper: str, unmeasured: dict[str, str] | None = None
) -> pd.DataFrame:
    """What is measured by a second rule, `<x>, <rule>`, stands below the first, which alone gets a verdict.

    `unmeasured`: by `<artifact>/<series>`, what a number needs that this run has not.
    """
    measured = measured.assign(of=measured["x"].str.partition(", ")[0])
    both = published.rename(columns={"x": "of"}).merge(measured, on=["artifact", "series", "of"], how="left")
    both["x"] = both["x"].fillna(both["of"])
    both.insert(0, "paper", paper)
    both["difference"] = both["measured"] - both["value"]
    within = both["difference"].abs() <= both["tolerance"]
    both["within"] = within.map({True: "yes", False: "no"}).where(both["tolerance"].notna(), "no tolerance set")
    both["within"] = both["within"].where(both["x"] == both["of"], "another rule")
    named = both["artifact"] + "/" + both["series"]
    reason = named.map(lambda name: (unmeasured or {}).get(name, "not measured"))
    both["within"] = both["within"].where(both["measured"].notna(), reason)
    return both.rename(columns={"value": "published"})[COLUMNS]


def number(value: float, form: str) -> str:
    return "–" if value != value else f"{value:{form}}"


def as_markdown(run: str, numbers: pd.DataFrame, claims: pd.DataFrame, notes: list[str]) -> str:
    lines = [f"# Scorecard of the run `{run}`", ""]
    lines += [f"> {note}" for note in notes] + [""]
    counts = claims["verdict"].value_counts()
    lines += [f"Claims: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}.", ""]
    lines += ["| paper | claim | read from | verdict | evidence |", "| --- | --- | --- | --- | --- |"]
    lines += [
        f"| {c.paper} | {c.statement} | {c.artifact} | **{c.verdict}** | {c.evidence} |" for c in claims.itertuples()
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
        lines.append(f"| {' | '.join(cells)} | {row.within} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from workflow.lib.base.files import whole_file
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_table

    to_rule_log(snakemake.log[0])
    published = {Path(path).parent.name: path for path in snakemake.input.published}
    absent = snakemake.params.unmeasured
    measured = {Path(path).name.split(".")[0]: path for path in snakemake.input.measured}
    numbers = [compare(pd.read_csv(path, dtype={"x": str}), read_table(measured[paper]), paper, absent.get(paper))
               for paper, path in published.items()]  # fmt: skip
    numbers = pd.concat(numbers) if numbers else pd.DataFrame(columns=COLUMNS)
    claims = [read_table(path) for path in snakemake.input.claims]
    claims = pd.concat(claims) if claims else pd.DataFrame(columns=["paper", "statement", "verdict"])
    with whole_file(snakemake.output.csv) as beside:
        numbers.to_csv(beside, index=False)
    with whole_file(snakemake.output.md) as beside:
        beside.write_text(as_markdown(snakemake.params.run, numbers, claims, snakemake.params.notes))
