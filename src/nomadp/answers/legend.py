"""The legend of a map: what colours, widths and hatching mean."""

from html import escape

from nomadp.answers.numbers import PERCENT, percent
from nomadp.answers.scene import Scene
from nomadp.answers.steps import HATCHED, UNKNOWN
from nomadp.answers.svg import dash_attribute, hatch_pattern
from nomadp.theme import theme

__all__ = ["CERTAINTY_LABELS", "legend"]

CERTAINTY_LABELS = {
    "certain": "CI within one shade",
    "fair": "within two shades",
    "unsure": "wider",
}
UNKNOWN_INTERVAL = "interval unknown"
CELL, ROW = 56, 17


def legend(scene: Scene, key: str) -> str:
    """The legend of areas and dots, or that of flows."""
    if scene.curves:
        return f'<div class="legend">{_flows(scene)}</div>'
    if scene.steps is None or not scene.has_shades:
        return ""
    size = "" if scene.areas else "<div>Larger dots: larger shares</div>"
    hatching = _hatching(f"{key}-legend") if HATCHED in scene.steps.names else ""
    return f'<div class="legend">{_shades(scene)}{hatching}{size}</div>'


def _shades(scene: Scene) -> str:
    """One row of shades for each certainty: the less certain, the fewer shades."""
    width = 4 * CELL
    parts = []
    rules, labels = theme()["certainty"], CERTAINTY_LABELS
    if scene.steps is not None and not scene.steps.has_intervals:
        rules, labels = {UNKNOWN: rules[UNKNOWN]}, {UNKNOWN: UNKNOWN_INTERVAL}
    for line, (certainty, rule) in enumerate(rules.items()):
        shade_width = width / rule["steps"]
        parts += [
            f'<rect class="mark {certainty}-{k + 1}" x="{k * shade_width:g}" y="{line * ROW}" '
            f'width="{shade_width:g}" height="{ROW}"/>'
            for k in range(rule["steps"])
        ]
        parts.append(
            f'<text x="{width + 8}" y="{line * ROW + 12}">{escape(labels[certainty])}</text>'
        )
    below = len(rules) * ROW
    edges = scene.steps.edges if scene.steps is not None else ()
    # Small shares are long, so only the last has a percent sign.
    *labels_before, last = [percent(float(edge)) for edge in edges] or [""]
    parts += [
        f'<text x="{(k + 1) * CELL}" y="{below + 14}" text-anchor="middle">'
        f"{escape(label)}</text>"
        for k, label in enumerate(
            [*(text.removesuffix(PERCENT) for text in labels_before), last]
        )
    ]
    fewer = "; fewer shades where it is less certain" if len(rules) > 1 else ""
    return f"<div>Share{fewer}{_drawing(width + 150, below + 18, ''.join(parts))}</div>"


def _hatching(key: str) -> str:
    inside = (
        f'{hatch_pattern(key)}<rect class="mark {HATCHED}" fill="url(#{key}-hatch)" x="0.5" '
        f'y="0.5" width="{CELL - 1}" height="{3 * ROW}"/>'
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
        f'stroke-width="{curve.width:.1f}"/></g>'
        for x, curve in ((0, thinnest), (56, widest))
    )
    shades = "".join(
        f'<g class="flow {certainty}"><path class="line" d="M0 {10 + 17 * k}h44" '
        'stroke-width="6"/></g>'
        f'<text x="52" y="{14 + 17 * k}">{escape(CERTAINTY_LABELS[certainty])}</text>'
        for k, certainty in enumerate(CERTAINTY_LABELS)
    )
    fainter = f"<div>Fainter: less certain{_drawing(210, 56, shades)}</div>"
    if scene.steps is not None and not scene.steps.has_intervals:
        fainter = ""
    dashed = ""
    if any(curve.is_below_baseline for curve in scene.curves):
        line = f'<path class="line" d="M0 12h44" stroke-width="6"{dash_attribute(6)}/>'
        sample = _drawing(104, 24, f'<g class="flow certain">{line}</g>')
        dashed = f"<div>Dashed: below the baseline{sample}</div>"
    return (
        f"<div>Wider: more trips{_drawing(104, 24, widths)}</div>"
        f"{fainter}{dashed}"
        "<div>Flows curve to the right of their direction.</div>"
    )
