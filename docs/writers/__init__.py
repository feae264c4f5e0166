"""The generated pages of docs/reference."""

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
"""The function that writes each page, by its path in docs/. docs/generate.py calls them."""
