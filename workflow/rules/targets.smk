"""Targets that a user can request by name.

in   figures, tables, verdicts
out  nothing of their own
how  `snakemake` makes all of them (rule all, in the Snakefile), `snakemake <paper>` those of one paper; for an unknown
     name the error suggests the nearest one
"""

for key in PLAN.papers:

    rule:
        """Make every figure and table of one paper, and verdicts on its claims."""
        name:
            key
        input:
            PLAN.paper_files(key),


rule unknown_target:
    """Catches unknown names: never runs, but suggests the nearest target."""
    input:
        lambda w: PLAN.unknown_target(w.target),
    output:
        "{target}",
    wildcard_constraints:
        target=r"[a-z0-9_]+(/[a-z0-9_]+)?",
