"""The text of a page, as lines that a person can review."""

import re
from html.parser import HTMLParser

__all__ = ["PageText"]


class PageText(HTMLParser):
    """The text of a page, one element per line; table rows and terms have their own lines."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.row: list[str] | None = None
        self.feed(re.sub(r"<(style|script)>.*?</\1>", "", markup, flags=re.DOTALL))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        label = dict(attrs).get("aria-label")
        self.lines += [f"({label})"] if label else []
        if tag in ("tr", "dt"):
            self.row = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("tr", "dd") and self.row is not None:
            self.lines.append(" | ".join(self.row))
            self.row = None

    def handle_data(self, data: str) -> None:
        if data.strip():
            where = self.lines if self.row is None else self.row
            where.append(" ".join(data.split()))

    def __str__(self) -> str:
        return "\n".join(self.lines)
