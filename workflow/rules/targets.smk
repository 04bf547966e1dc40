"""Targets: what a user asks for by name.

in   figures, tables, verdicts
out  nothing of their own
how  `snakemake` makes all of them (rule all, in the Snakefile), `snakemake <paper>` those of one paper; a wrong name gets the
     nearest right one
"""

for key in PLAN.papers:

    rule:
        """Every figure and table of one paper, and verdicts on its claims."""
        name:
            key
        input:
            PLAN.paper_files(key),


rule unknown_target:
    """A name that is no target: never runs, says which one is near."""
    input:
        lambda w: PLAN.unknown_target(w.target),
    output:
        "{target}",
    wildcard_constraints:
        target=r"[a-z0-9_]+(/[a-z0-9_]+)?",
