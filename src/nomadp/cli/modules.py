"""Groups of commands that import a command's module only when it is asked for."""

import importlib
from collections.abc import Mapping
from typing import Any, ClassVar

import click

__all__ = ["CommandModules"]


class CommandModules(click.Group):
    """Lists its commands from a table, so that ``--help`` need not import a single one."""

    summaries: ClassVar[Mapping[str, str]]
    """One line for every command, in the order a newcomer meets them."""
    modules: ClassVar[str]
    """Where a command lives: a module's name with ``{}`` for the command's."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.summaries)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.summaries.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.summaries:
            return None
        module: Any = importlib.import_module(self.modules.format(cmd_name))
        command: click.Command = getattr(module, cmd_name)
        return command
