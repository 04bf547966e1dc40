"""Which of Matplotlib's settings a config may change: those of the look.

Others run what they name (`figure.hooks` imports and calls it, `backend` imports it, `text.usetex` starts LaTeX,
`ps.usedistiller` and `animation.*` start programs), write elsewhere (`savefig.directory`), or take from figures what
pages and tests rely on (`svg.*`: text that stays text, the same bytes every time).
"""

FAMILIES = {
    *("axes", "axes3d", "boxplot", "contour", "errorbar", "figure", "font", "grid", "hatch", "hist", "image", "legend"),
    *("lines", "markers", "mathtext", "patch", "path", "pcolor", "pcolormesh", "polaraxes", "savefig", "scatter"),
    *("text", "xaxis", "xtick", "yaxis", "ytick"),
}
NOT_LOOK = {
    *("figure.hooks", "savefig.directory", "savefig.format", "text.usetex"),
    "axes.prop_cycle",  # `palette` says it
    "path.effects",  # objects, which no config can hold
}


def settings_of_look() -> list[str]:
    import matplotlib  # half a second, for those who change the look

    known = [key for key in matplotlib.rcParams if key.partition(".")[0] in FAMILIES and key not in NOT_LOOK]
    return [key for key in known if not key.startswith("text.latex.")]
