"""Characters that public text must not hold, and how text of others is shown on a terminal.

The code points are listed, not taken from a Unicode database: whether a task is valid must not
depend on which version of Unicode its reader knows.
"""

import re

__all__ = [
    "BLANKS",
    "FORBIDDEN",
    "has_blanks",
    "has_forbidden",
    "printable",
    "spreadsheet_safe",
]

FORBIDDEN = (
    (0x0000, 0x001F),
    (0x007F, 0x009F),
    (0x00AD, 0x00AD),
    (0x061C, 0x061C),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0xD800, 0xF8FF),
    (0xFDD0, 0xFDEF),
    (0xFEFF, 0xFEFF),
    (0xFFF9, 0xFFFB),
    *((plane + 0xFFFE, plane + 0xFFFF) for plane in range(0, 0xE0000, 0x10000)),
    (0xE0001, 0xE0001),
    (0xE0020, 0xE007F),
    (0xEFFFE, 0x10FFFF),
)
"""First and last of each range: control and format characters that hide text or turn its
direction, line separators, surrogates, private use, and noncharacters."""

BLANKS = (
    (0x00A0, 0x00A0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
)
"""The spaces other than U+0020: a task's purpose has none of them, an id or a name may."""


def _any_of(ranges: tuple[tuple[int, int], ...]) -> re.Pattern[str]:
    return re.compile(f"[{''.join(f'{chr(low)}-{chr(high)}' for low, high in ranges)}]")


_FORBIDDEN = _any_of(FORBIDDEN)
_BLANKS = _any_of(BLANKS)


def has_forbidden(text: str) -> bool:
    return _FORBIDDEN.search(text) is not None


def has_blanks(text: str) -> bool:
    """Whether it has a space other than U+0020."""
    return _BLANKS.search(text) is not None


def printable(text: str, *, lines: bool = True) -> str:
    """Text of others for a terminal: what is forbidden is escaped, ``lines`` and tabs stay."""
    kept = "\n\t" if lines else ""
    return _FORBIDDEN.sub(
        lambda found: found[0] if found[0] in kept else ascii(found[0])[1:-1], text
    )


def spreadsheet_safe(text: str) -> str:
    """Text with an apostrophe before it if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
