"""The ``nomadp`` command: its subcommands by role, and its exit codes (see exit_codes)."""

import importlib
import io
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

import nomadp
from nomadp.cli.exit_codes import Stopped, end_threads, report_failure, stopped_by_signals

__all__ = ["CommandModules", "main"]

ROLES = {
    "Start here": {
        "demo": "Run a complete data collection in a simulated city.",
        "doctor": "Check the installation and the source of randomness.",
    },
    "Analysts": {
        "query": "Estimate visits, flows and lengths from reports.",
        "decode": "Estimate the true location of each reported point.",
        "plan": "Choose a mechanism and an epsilon before you collect.",
    },
    "Devices": {
        "report": "Perturb one of your trajectories and send the report.",
        "send": "Send the reports that are waiting.",
        "ledger": "Show the privacy budget of this device.",
    },
    "Operators": {
        "task": "Create, verify and publish the parameters of a collection.",
        "serve": "Run the collector, which stores and counts reports.",
        "collector": "Maintain a collector's store: status, export, backup, tokens.",
    },
    "Research": {
        "perturb": "Perturb a file of trajectories into a file of reports.",
        "evaluate": "Measure utility against no-information baselines.",
        "explain": "Show the guarantee, budget split and utility of an epsilon.",
        "audit": "Compute the exact privacy loss of every mechanism.",
        "codebook": "Build and check the public codebook of ATLAS.",
        "data": "Build, describe and convert data sets.",
        "granularity": "Compare the paper's Table 1 with its own equation.",
        "paper": "Regenerate the figures and tables of the paper.",
    },
}
COMMANDS = {name: text for commands in ROLES.values() for name, text in commands.items()}
"""The summary of each command, which is in a module of its name."""


class CommandModules(click.Group):
    """Lists its commands from a table, so that ``--help`` imports none of them.

    A command that was not added is imported from ``modules``, where ``{}`` is its name.
    """

    def __init__(self, *, summaries: Mapping[str, str], modules: str, **settings: Any) -> None:
        super().__init__(**settings)
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
    """Groups the commands by role, and turns failures into messages and exit codes."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))  # one column of summaries for all sections
        for role, commands in ROLES.items():
            with formatter.section(role):
                formatter.write_dl(
                    [(name.ljust(width), text) for name, text in commands.items()]
                )

    def main(  # type: ignore[override]  # click's own signature has overloads
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        arguments = list(sys.argv[1:] if args is None else args)
        if not extra.pop("standalone_mode", True):
            return super().main(arguments, prog_name, standalone_mode=False, **extra)
        if isinstance(sys.stdout, io.TextIOWrapper):
            # A terminal's encoding may lack a character of a file name.
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
    Example:
      nomadp demo --out demo-output
      nomadp plan --query flows --people 30000 --epsilon 4
    """
