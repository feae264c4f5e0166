"""The ``nomadp`` command: its subcommands by name, and its one way out (see exit_codes)."""

import importlib
import io
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

import nomadp
from nomadp.cli.exit_codes import Stopped, end_threads, report_failure, stopped_by_signals

__all__ = ["CommandModules", "main"]

COMMANDS = {
    "demo": "A collection in a simulated city: devices, dashboard, page.",
    "perturb": "A file of trajectories in, a file of reports out.",
    "decode": "A file of reports in, the best estimates with their radii out.",
    "query": "A file of reports in, shares of zones and trips out.",
    "evaluate": "What reports are worth, beside what no information gives.",
    "explain": "What an epsilon promises, where it goes, and what it buys.",
    "audit": "The exact privacy loss, by walking every choice.",
    "codebook": "The public codebook of ATLAS as a file with a hash.",
    "task": "One collection's public parameters: make, check and publish them.",
    "serve": "The collector: takes reports, keeps and counts them.",
    "collector": "A collector's store: status, export, backup, migration, tokens.",
    "report": "One journey of yours, perturbed here and sent to a collector.",
    "send": "Reports that were made and wait to be sent.",
    "ledger": "What this device has spent, and may still.",
    "data": "Build, describe and convert data sets.",
    "granularity": "The paper's Table 1, as printed and corrected.",
    "paper": "Every figure and table of the paper, in one report.",
    "doctor": "What is installed, and whether the randomness works.",
}
"""In the order a newcomer meets them. Each is a module here, with a command of its name."""


class CommandModules(click.Group):
    """Lists its commands from a table, so that ``--help`` need not import a single one.

    ``modules`` is where those live that were not added, a name with ``{}`` for the command's.
    """

    def __init__(self, *, summaries: Mapping[str, str], modules: str, **how: Any) -> None:
        super().__init__(**how)
        self._summaries, self._modules = summaries, modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._summaries)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.commands or cmd_name not in self._summaries:
            return super().get_command(ctx, cmd_name)
        module: Any = importlib.import_module(self._modules.format(cmd_name))
        command: click.Command = getattr(module, cmd_name)
        return command


class Nomadp(CommandModules):
    """Turns failures into sentences and exit codes."""

    def main(  # type: ignore[override]  # click's own signature has overloads
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        arguments = list(sys.argv[1:] if args is None else args)
        if not extra.pop("standalone_mode", True):
            return super().main(arguments, prog_name, standalone_mode=False, **extra)
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A file name, or a terminal's encoding, may have no such character.
            sys.stdout.reconfigure(errors="backslashreplace")
        try:
            with stopped_by_signals():
                code = super().main(arguments, "nomadp", standalone_mode=False, **extra)
        except (Exception, Stopped) as error:
            code = report_failure(error, as_json="--json" in arguments)
            if isinstance(error, Stopped):
                end_threads(code)
        sys.exit(code if isinstance(code, int) else 0)


@click.group(
    cls=Nomadp,
    summaries=COMMANDS,
    modules="nomadp.cli.{}",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.version_option(nomadp.__version__, prog_name="nomadp", message="%(prog)s %(version)s")
def main() -> None:
    """Collect trajectories under local differential privacy, with an audited guarantee.

    \b
    Start here:
      nomadp demo --out demo-output      the system at work, in a simulated city
      nomadp explain --epsilon 4 --length 5
    """
