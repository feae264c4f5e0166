"""Characters that public text must not contain, and safe output of text from other people.

The code points are listed here instead of taken from a Unicode database, because whether a task
is valid must not depend on the reader's version of Unicode.
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
"""First and last code point of each range: control and format characters that hide text or
change its direction, line separators, surrogates, private use, and noncharacters."""

BLANKS = (
    (0x00A0, 0x00A0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
)
"""Spaces other than U+0020. Ids and names may contain them, a task's purpose may not."""


def _any_of(ranges: tuple[tuple[int, int], ...]) -> re.Pattern[str]:
    return re.compile(f"[{''.join(f'{chr(low)}-{chr(high)}' for low, high in ranges)}]")


_FORBIDDEN = _any_of(FORBIDDEN)
_BLANKS = _any_of(BLANKS)


def has_forbidden(text: str) -> bool:
    return _FORBIDDEN.search(text) is not None


def has_blanks(text: str) -> bool:
    """Whether the text contains a space other than U+0020."""
    return _BLANKS.search(text) is not None


def printable(text: str, *, lines: bool = True) -> str:
    """Text from other people, made safe for a terminal: forbidden characters are escaped.

    With ``lines``, line breaks and tabs stay as they are.
    """
    allowed = "\n\t" if lines else ""
    return _FORBIDDEN.sub(
        lambda match: match[0] if match[0] in allowed else ascii(match[0])[1:-1], text
    )


def spreadsheet_safe(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would run it as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
