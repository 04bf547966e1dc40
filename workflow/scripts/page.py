"""The page of a run: every figure, table and claim in one HTML file that needs no network."""

from datetime import datetime
from pathlib import Path

import pandas as pd
import yaml

from workflow.lib.base.chance import of_models
from workflow.lib.base.measured import compared
from workflow.lib.page.content import VERDICTS, as_table, section
from workflow.lib.page.provenance import commit, machine, times, versions
from workflow.lib.page.render import rendered

if __name__ == "__main__":
    from workflow.lib.base.files import whole_file
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_table

    log = to_rule_log(snakemake.log[0])
    about = snakemake.params.about
    results = Path(snakemake.output[0]).parents[1 if about["only"] else 0]
    job, comparable = snakemake.input, about["comparable"]
    scores = compared(job.published, job.measured, snakemake.params.unmeasured, comparable)
    scores = scores[scores["paper"].isin(comparable)]
    claims = {Path(path).name.split(".")[0]: read_table(path) for path in job.claims}
    papers = [
        section(
            paper,
            results,
            scores,
            claims.get(paper["key"], pd.DataFrame()),
            of_models(job.metrics, paper["models"]),
        )
        for paper in about["papers"]
    ]
    took, by_rule = times(results)
    text = rendered(
        "page.html",
        about=about,
        papers=papers,
        verdicts=VERDICTS,
        took=took,
        by_rule=as_table(by_rule) if len(by_rule) else None,
        machine=machine(),
        commit=commit(),
        versions=versions(),
        config=yaml.safe_dump(snakemake.params.config, sort_keys=False, allow_unicode=True),
        written=datetime.now().astimezone().strftime("%d %B %Y, %H:%M %Z"),
    )
    with whole_file(snakemake.output[0]) as beside:
        beside.write_text(text)
    log.info("%d papers, %.1f MB", len(papers), len(text.encode()) / 1e6)
