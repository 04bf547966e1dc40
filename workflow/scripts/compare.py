"""A page that sets finished runs side by side: figure by figure, claim by claim."""

from pathlib import Path

from workflow.lib.page.comparison import compared_papers, verdicts_by_run
from workflow.lib.page.content import VERDICTS
from workflow.lib.page.render import rendered
from workflow.papers import all_papers

if __name__ == "__main__":
    from workflow.lib.base.files import whole_file
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.plotting.figures import use_look

    log = to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    runs = {run: Path("results") / run for run in snakemake.params.runs}
    papers = compared_papers(all_papers(), runs)
    counts = verdicts_by_run(papers, list(runs))
    with whole_file(snakemake.output[0]) as beside:
        beside.write_text(rendered("compare.html", runs=list(runs), papers=papers, counts=counts, verdicts=VERDICTS))
    log.info("%d runs, %d papers", len(runs), len(papers))
