"""The command line translates and delegates. It imports nothing heavy before it is needed."""

from nomadp.cli.group import main

__all__ = ["main"]
