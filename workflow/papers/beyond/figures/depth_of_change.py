"""Where does fine-tuning act? Every method's answer by layer, on the same models."""

from workflow.lib.base.repetitions import spread, with_parts
from workflow.lib.plotting.figures import COLUMN, curve, name_of, new_figure, save_figure, use_look
from workflow.papers.beyond.changes import changes
from workflow.papers.beyond.numbers import METHODS, normalised

if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import tables_of

    to_rule_log(snakemake.log[0])
    use_look(**snakemake.params.look)
    tables = tables_of(snakemake.input)
    found = with_parts(normalised(changes(**tables)))
    tasks = list(dict.fromkeys(found["tuned_on"]))
    figure, panels = new_figure(
        width=COLUMN * max(1.4, len(tasks)), height=3.7, ncols=len(tasks), squeeze=False, sharey=True
    )
    for axes, task in zip(panels[0], tasks):
        for number, (method, label) in enumerate(METHODS.items()):
            here = found[(found["tuned_on"] == task) & (found["method"] == method)]
            by_layer = spread(here, ["layer"], "share").sort_values("layer").dropna(subset="mean")
            # what the share is of: a method that saw next to nothing is drawn as high as one that saw much
            largest = here["change"].abs().groupby(here["model"]).max().mean()
            said = f"{label}; largest {largest:.2g}"
            curve(axes, by_layer["layer"], by_layer["mean"], by_layer["sd"], said, number, series=label)
        axes.axhline(0, color="black", linewidth=0.6)
        axes.set(title=name_of(task), xlabel="layer")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize="small")
    panels[0][0].set_ylabel("share of the method's largest change")
    save_figure(figure, snakemake.output)
