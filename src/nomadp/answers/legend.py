"""The legend of a map: what colours, widths and hatching mean."""

from html import escape

from nomadp.answers.numbers import PERCENT, percent
from nomadp.answers.scene import Scene
from nomadp.answers.steps import HATCHED, UNKNOWN
from nomadp.answers.svg import dashes, hatch
from nomadp.theme import theme

__all__ = ["WORDS", "legend"]

WORDS = {
    "certain": "interval within one shade",
    "fair": "within two shades",
    "unsure": "wider",
}
UNKNOWN_INTERVAL = "interval unknown"
CELL, ROW = 56, 17


def legend(scene: Scene, key: str) -> str:
    """For areas and dots, or for flows."""
    if scene.curves:
        return f'<div class="legend">{_flows(scene)}</div>'
    if scene.steps is None or not scene.is_stepped:
        return ""
    size = "" if scene.areas else "<div>Larger dots: larger shares</div>"
    nothing = _nothing(f"{key}-legend") if HATCHED in scene.steps.names else ""
    return f'<div class="legend">{_values(scene)}{nothing}{size}</div>'


def _values(scene: Scene) -> str:
    """Rows of ever fewer steps: the less certain, the fewer."""
    width = 4 * CELL
    parts = []
    rules, words = theme()["certainty"], WORDS
    if scene.steps is not None and not scene.steps.has_intervals:
        rules, words = {UNKNOWN: rules[UNKNOWN]}, {UNKNOWN: UNKNOWN_INTERVAL}
    for line, (word, rule) in enumerate(rules.items()):
        wide = width / rule["steps"]
        parts += [
            f'<rect class="mark {word}-{k + 1}" x="{k * wide:g}" y="{line * ROW}" '
            f'width="{wide:g}" height="{ROW}"/>'
            for k in range(rule["steps"])
        ]
        parts.append(
            f'<text x="{width + 8}" y="{line * ROW + 12}">{escape(words[word])}</text>'
        )
    below = len(rules) * ROW
    edges = scene.steps.edges if scene.steps is not None else ()
    # Small shares have long names: all but the last go without the sign.
    *names, last = [percent(float(edge)) for edge in edges] or [""]
    parts += [
        f'<text x="{(k + 1) * CELL}" y="{below + 14}" text-anchor="middle">'
        f"{escape(name)}</text>"
        for k, name in enumerate([*(each.removesuffix(PERCENT) for each in names), last])
    ]
    fewer = "; fewer shades where it is less certain" if len(rules) > 1 else ""
    return f"<div>Share{fewer}{_drawing(width + 150, below + 18, ''.join(parts))}</div>"


def _nothing(key: str) -> str:
    inside = (
        f'{hatch(key)}<rect class="mark {HATCHED}" fill="url(#{key}-hatch)" x="0.5" y="0.5" '
        f'width="{CELL - 1}" height="{3 * ROW}"/>'
    )
    return f"<div>Too uncertain{_drawing(CELL, 3 * ROW + 18, inside)}</div>"


def _drawing(width: int, height: int, inside: str) -> str:
    return (
        f'<svg width="{width}" viewBox="0 0 {width} {height}" aria-hidden="true">{inside}</svg>'
    )


def _flows(scene: Scene) -> str:
    widest = max(scene.curves, key=lambda curve: curve.width)
    thinnest = min(scene.curves, key=lambda curve: curve.width)
    widths = "".join(
        f'<g class="flow certain"><path class="line" d="M{x} 12h44" '
        f'stroke-width="{each.width:.1f}"/></g>'
        for x, each in ((0, thinnest), (56, widest))
    )
    shades = "".join(
        f'<g class="flow {word}"><path class="line" d="M0 {10 + 17 * k}h44" '
        'stroke-width="6"/></g>'
        f'<text x="52" y="{14 + 17 * k}">{escape(WORDS[word])}</text>'
        for k, word in enumerate(WORDS)
    )
    fainter = f"<div>Fainter: less certain{_drawing(210, 56, shades)}</div>"
    if scene.steps is not None and not scene.steps.has_intervals:
        fainter = ""
    less = ""
    if any(curve.is_less for curve in scene.curves):
        line = f'<path class="line" d="M0 12h44" stroke-width="6"{dashes(6)}/>'
        drawn = _drawing(104, 24, f'<g class="flow certain">{line}</g>')
        less = f"<div>Dashed: below the baseline{drawn}</div>"
    return (
        f"<div>Wider: more trips{_drawing(104, 24, widths)}</div>"
        f"{fainter}{less}"
        "<div>Flows curve to the right of their direction.</div>"
    )
