"""merchant2020's claims (claims.yaml), judged by the analysis tables."""

import pandas as pd

from workflow.lib.base.claims import Claim
from workflow.papers.merchant2020.claims_of_layers import depth_claims, similarity_claims, text_claims
from workflow.papers.merchant2020.claims_of_probes import CLAIMS, description_claims, edge_claims, structure_claims
from workflow.papers.merchant2020.numbers import by_series, depth_curves, edge_deltas, edge_scores, roles_of


def all_claims(tables: dict[str, pd.DataFrame], settings: dict, chance: dict[str, float]) -> list[Claim]:
    """`settings`: as `scored` in plan.py has them; `chance`: what a guess scores, by task."""
    heads, layers = settings["heads"], settings["layers"]
    roles, similarity = roles_of(heads), by_series(tables["rsa"])
    freeze, truncate = (
        depth_curves(tables["metrics"], tables["sweeps"], sweep, layers, heads) for sweep in ("freeze", "truncate")
    )
    found = structure_claims(by_series(tables["structural"]), roles)
    found += similarity_claims(similarity, settings["general"], roles)
    found += text_claims(similarity, settings["texts"])
    found += depth_claims(freeze, truncate, max(layers.values()), roles, chance)
    if "edges" in tables:
        randomised = set(settings["randomised"])
        mix, top = (edge_deltas(edge_scores(tables["edges"], kind, randomised)) for kind in ("mix", "top"))
        found += edge_claims(mix, top, roles)
    if "mdl" in tables:
        found += description_claims(tables["mdl"], roles.parser)
    return CLAIMS.complete(found)
