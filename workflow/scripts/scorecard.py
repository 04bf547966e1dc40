"""Published numbers, measured numbers and claims side by side."""

import pandas as pd

from workflow.lib.base.chance import of_models
from workflow.lib.base.markdown import markdown_row, markdown_text
from workflow.lib.base.measured import compared


def number(value: float, form: str) -> str:
    return "–" if value != value else f"{value:{form}}"


def measured_cell(row) -> str:
    return f"{number(row.measured, '.2f')}{'' if row.sd != row.sd else f' ± {row.sd:.2f}'}"


def table(header: list[str], rows: list[list]) -> list[str]:
    return [markdown_row(header), markdown_row(["---"] * len(header)), *map(markdown_row, rows), ""]


def folded(summary: str, lines: list[str]) -> list[str]:
    return ["<details>", f"<summary>{summary}</summary>", "", *lines, "</details>", ""]


def numbers_of(numbers: pd.DataFrame, is_comparable: bool) -> list[str]:
    """A paper's numbers: measured ones beside the published, or alone; what was not measured is folded."""
    what = ["artifact", "series", "x"]
    if not is_comparable:
        rows = [[*row[1:4], measured_cell(row)] for row in numbers[[*what, "measured", "sd"]].itertuples()]
        said = "The data are stand-ins, so published numbers do not stand beside these."
        return folded(f"{len(rows)} measured numbers", [said, "", *table([*what, "measured"], rows)]) if rows else []
    known = numbers["measured"].notna()
    rows = [
        [row.artifact, row.series, row.x, f"{row.published:g}", measured_cell(row), number(row.difference, "+.2f")]
        + [row.within]
        for row in numbers[known].itertuples()
    ]
    missing = [[r.artifact, r.series, r.x, f"{r.published:g}", r.within] for r in numbers[~known].itertuples()]
    lines = table([*what, "published", "measured", "difference", "within tolerance"], rows) if rows else []
    summary = f"{len(missing)} published numbers that this run has not measured"
    return lines + (folded(summary, table([*what, "published", "reason"], missing)) if missing else [])


def counted(claims: pd.DataFrame) -> str:
    return f"Claims: {', '.join(f'{n} {verdict}' for verdict, n in claims['verdict'].value_counts().items())}."


def of_paper(key: str, numbers: pd.DataFrame, claims: pd.DataFrame, is_comparable: bool, weak: list[str]) -> list[str]:
    """`weak`: its models that are at chance, in words."""
    judged = [[c.statement, c.artifact, f"**{c.verdict}**", c.evidence] for c in claims.itertuples()]
    lines = [f"## {markdown_text(key)}", ""]
    lines += [counted(claims), "", *table(["claim", "read from", "verdict", "evidence"], judged)] if judged else []
    lines += [f"At chance: {markdown_text('; '.join(weak))}.", ""] if weak else []
    return lines + numbers_of(numbers, is_comparable)


def as_markdown(
    run: str,
    numbers: pd.DataFrame,
    claims: pd.DataFrame,
    notes: list[str],
    comparable: list[str],
    weak: dict[str, list[str]],
) -> str:
    """A section for each paper. `comparable`: papers whose published numbers stand beside ours."""
    lines = [
        f"# Scorecard of the run `{run}`",
        "",
        *(f"> {markdown_text(note)}" for note in notes),
        "",
        counted(claims),
    ]
    for key in dict.fromkeys([*claims["paper"], *numbers["paper"], *(key for key in weak if weak[key])]):
        own = numbers[numbers["paper"] == key], claims[claims["paper"] == key]
        lines += ["", *of_paper(key, *own, key in comparable, weak.get(key, []))]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    from workflow.lib.base.files import whole_file
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_table

    log = to_rule_log(snakemake.log[0])
    job, params = snakemake.input, snakemake.params
    numbers = compared(job.published, job.measured, params.unmeasured, params.comparable)
    claims = [read_table(path) for path in job.claims]
    claims = pd.concat(claims) if claims else pd.DataFrame(columns=["paper", "statement", "verdict"])
    weak = {key: of_models(job.metrics, models) for key, models in params.models.items()}
    for key, said in weak.items():
        for model in said:
            log.warning("at chance, %s: %s", key, model)
    with whole_file(snakemake.output.csv) as beside:
        numbers.to_csv(beside, index=False)
    with whole_file(snakemake.output.md) as beside:
        beside.write_text(as_markdown(params.run, numbers, claims, params.notes, params.comparable, weak))
