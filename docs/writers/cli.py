"""Every command's own help."""

from collections.abc import Iterator

import click

from nomadp.cli import main

WIDTH = 88
"""Of a help text, in characters, whatever terminal this runs in."""

ABOUT = """# Commands

What `--help` says of every command. All but groups take `--json`, and end with 0 (done),
1 (refused or failed), 2 (bad input) or, when stopped, 130 (Ctrl-C), 143 or 129.
"""


def commands(
    command: click.Command = main, parent: click.Context | None = None
) -> Iterator[tuple[str, click.Context]]:
    """Every command by what one types, groups before what is in them."""
    name = "nomadp" if parent is None else command.name
    # The real context of a command: settings are inherited through its parents.
    context = click.Context(
        command, parent, name, terminal_width=WIDTH, **command.context_settings
    )
    yield context.command_path, context
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            if found is None:
                raise LookupError(f"{context.command_path} lists {inner} and does not have it")
            yield from commands(found, context)


def page() -> str:
    parts = [ABOUT]
    for path, context in commands():
        depth = "#" * min(4, 2 + path.count(" ") - (path.count(" ") > 0))
        help_text = context.get_help().strip()
        parts.append(f"{depth} `{path}`\n\n```text\n{help_text}\n```\n")
    return "\n".join(parts)
