"""The command line: translate and delegate. Nothing heavy is imported before it is needed."""

from nomadp.cli.group import main

__all__ = ["main"]
