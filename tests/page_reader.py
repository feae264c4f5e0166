"""Parse a page: what a browser would load or run, and the text that a person reads."""

from html.parser import HTMLParser

__all__ = ["PageReader"]

LOADING = {"src", "href", "srcset", "action", "poster", "data", "background", "formaction"}


class PageReader(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.inline: list[str] = []
        self.ids: list[str] = []
        self.policy = ""
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [v or "" for name, v in attrs if name.split(":")[-1] in LOADING]
        self.inline += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"] or ""

    handle_startendtag = handle_starttag

    def handle_data(self, data: str) -> None:
        self.text += data
