"""docs/reference/cli.md: the help text of every command."""

from collections.abc import Iterator

import click

from nomadp.cli import main

WIDTH = 88
"""The width of help texts in characters, independent of the terminal."""

ABOUT = """# Commands

The output of `--help` for every command. All commands except groups take `--json`. The exit
code is 0 (success), 1 (refused or failed), 2 (invalid input) or, if the command was stopped,
130 (Ctrl-C), 143 or 129.
"""


def commands(
    command: click.Command = main, parent: click.Context | None = None
) -> Iterator[tuple[str, click.Context]]:
    """The path and context of every command, groups before their commands."""
    name = "nomadp" if parent is None else command.name
    # The context with all its parents, because commands inherit settings from them.
    context = click.Context(
        command, parent, name, terminal_width=WIDTH, **command.context_settings
    )
    yield context.command_path, context
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            child = command.get_command(context, inner)
            if child is None:
                raise LookupError(f"{context.command_path} lists {inner} but does not have it")
            yield from commands(child, context)


def page() -> str:
    parts = [ABOUT]
    for path, context in commands():
        depth = "#" * min(4, 2 + path.count(" ") - (path.count(" ") > 0))
        help_text = context.get_help().strip()
        parts.append(f"{depth} `{path}`\n\n```text\n{help_text}\n```\n")
    return "\n".join(parts)
