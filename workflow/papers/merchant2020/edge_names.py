"""Names of the edge-probing tasks: in published.csv, and as the paper writes them."""

EDGES = {"pos": "POS", "srl": "SRL", "spr": "SPR"}  # others are plain words


def published_edge(task: str) -> str:
    """As in published.csv: `pos` for both ep_pos and ep_pos_ontonotes."""
    return task.removeprefix("ep_").removesuffix("_ontonotes")


def edge_name(task: str) -> str:
    short = published_edge(task)
    return EDGES.get(short, short[0].upper() + short[1:])
