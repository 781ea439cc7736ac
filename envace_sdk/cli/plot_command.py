"""`envace-sdk plot`: training curves or fidelity as a picture."""

from __future__ import annotations

from pathlib import Path

import click

from .extras import load
from .outputs import check_output, write_output

__all__ = ["plot"]

_FORMS = {".svg": "svg", ".png": "png"}


@click.command(
    epilog="""\b
RUN is one of these; several are laid over each other, all of one kind:
  runs/seed-0/     a training run, or a folder with several: metrics over the steps
  fidelity.json    what `envace-sdk eval fidelity --json` printed: scores by tool, confidence beside what was right
\b
Examples:
  envace-sdk plot runs/seed-0 --list
  envace-sdk plot runs/seed-0 -o curves.svg
  envace-sdk plot runs/role-wise runs/pooled -o success.png --metric success --metric reward/act --smooth 7
  envace-sdk plot before.json after.json -o fidelity.svg --metric fidelity --metric entailed --metric calibration
\b
The colour and the marker tell the runs apart, the dashes the metrics in one plot; the colours are told apart by
people who see no red or no green. The same numbers make the same bytes, with one version of matplotlib.
It needs matplotlib: pip install 'envace-sdk[plot]'
\b
Exit codes:
  0  written
  3  a RUN or a metric is not there, or the file may not be overwritten
""",
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where to draw it, a .svg or a .png.",
)
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="What to draw, a plot each; may be repeated.")
@click.option("--list", "is_list", is_flag=True, help="Print the metrics that are there.")
@click.option(
    "--smooth",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Draw means over N points, and the points faintly; of what is measured in training, not of eval/….",
)
@click.option("--force", is_flag=True, help="Overwrite a file that is no such picture.")
def plot(
    runs: tuple[Path, ...], output: Path | None, metrics: tuple[str, ...], is_list: bool, smooth: int, force: bool
) -> None:
    """Draw training curves or fidelity of one or more RUNs into an SVG or PNG."""
    plotted = load("studio.plotted", command="plot", extra="plot")
    if output is None and not is_list:
        raise click.UsageError("-o FILE says where to draw it; --list prints what there is")
    form = None if output is None else _FORMS.get(output.suffix.lower())
    if output is not None:
        if form is None:
            raise click.BadParameter(f"{output}: expected a name that ends in .svg or .png", param_hint="-o")
        check_output(output, plotted.CREATOR, force=force)
    found = plotted.read(runs)
    there = {metric.name: metric for metric in found.metrics}
    if unknown := [name for name in metrics if name not in there]:
        raise click.ClickException(f"no metric {', '.join(map(repr, unknown))} is there: --list prints those that are")
    if not there:
        raise click.ClickException(f"{', '.join(map(str, runs))}: nothing was measured yet")
    if is_list:
        width = max(map(len, there))
        for name, metric in there.items():
            click.echo(f"{name:{width}}  {metric.points:5} points  {metric.least:.4g} to {metric.most:.4g}")
    if output is not None:
        data = found.draw(metrics, form, smooth)
        write_output(output, data)
        click.echo(f"{output}: {len(data) / 1024:.0f} KiB", err=True)
