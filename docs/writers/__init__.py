"""The pages of docs/reference, each written from the code that it is about."""

from collections.abc import Callable

from writers import cli, errors, http, python, settings, typescript, vectors

PAGES: dict[str, Callable[[], str]] = {
    "reference/cli.md": cli.page,
    **python.pages(),
    "reference/http.md": http.page,
    "reference/typescript.md": typescript.page,
    "reference/errors.md": errors.page,
    "reference/settings.md": settings.page,
    "reference/vectors.md": vectors.page,
}
"""By the path in docs/. None is written by hand: `python docs/generate.py` does it."""
