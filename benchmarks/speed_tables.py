"""The figures of a speed run as a table for people, and as facts for the documents."""

import textwrap
from typing import Any

from speed_runs import NOT_MEASURED

__all__ = ["facts", "merged", "printed"]

Facts = dict[str, Any]

COLUMNS = {
    "trajectories": ("n", "{:,}"),
    "us": ("us", "{:,.1f}"),
    "all_cores_us": ("all cores", "{:,.1f}"),
    "speed_up": ("speed-up", "{:.2f}"),
    "reference_us": ("reference", "{:,.0f}"),
    "ratio": ("x faster", "{:,.1f}"),
    "randomness_share": ("random", "{:.0%}"),
    "bound_us": ("bound", "{:.3f}"),
    "times_bound": ("x bound", "{:,.0f}"),
    "prepare_s": ("prepare s", "{:.1f}"),
    "peak_mib": ("peak MiB", "{:,.0f}"),
}
START_UP = {
    "imports_s": ("imported", "{:.1f}"),
    "read_s": ("file read", "{:.1f}"),
    "ready_s": ("ready", "{:.1f}"),
    "first_batch_s": ("first batch", "{:.1f}"),
    "peak_mib": ("peak MiB", "{:,.0f}"),
}
WIDTH = 96


def printed(report: Facts) -> str:
    """All of a run as text."""
    return "\n\n".join(
        [
            "\n".join(textwrap.fill(line, WIDTH) for line in report["definitions"]),
            of_the_run(report),
            case_table(report),
            "\n".join(scaling_lines(report)),
            start_up_table(report),
            "\n".join(change_lines(report)),
        ]
    )


def of_the_run(report: Facts) -> str:
    run = report["run"]
    numba = "with numba" if run["numba"] else "without numba"
    return (
        f"NomaDP {run['version']}, {run['cpus']} cores, Python {run['python']}, {numba}; "
        f"AES {run['aes_gb_s']:.1f} GB/s, memory {run['memory_gb_s']:.1f} GB/s"
    )


def case_table(report: Facts) -> str:
    header = ["set", "mechanism", *(name for name, _ in COLUMNS.values())]
    rows, reasons = [], [f"{what}: skipped, {why}" for what, why in report["skipped"].items()]
    for on in report["sets"]:
        for case in (case for case in report["cases"] if case["set"] == on):
            rows.append([on, case["mechanism"], *cells(case, COLUMNS)])
            for why in (NOT_MEASURED, "no_speed_up", "stopped", "failed"):
                if why in case and not (why in ("stopped", "failed") and NOT_MEASURED in case):
                    what = "no speed-up" if why == "no_speed_up" else why
                    reasons.append(f"{case['mechanism']} on {on}: {what}, {case[why]}")
    return "\n".join([aligned(header, rows), *reasons])


def cells(case: Facts, columns: dict[str, tuple[str, str]]) -> list[str]:
    return [
        shape.format(case[key]) if key in case else "-" for key, (_, shape) in columns.items()
    ]


def aligned(header: list[str], rows: list[list[str]]) -> str:
    """Columns as wide as their widest cell; names to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    named = sum(1 for name in header[:2] if name in ("set", "mechanism"))
    lines = [
        "  ".join(
            cell.ljust(width) if k < named else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in [header, *rows]
    ]
    return "\n".join(line.rstrip() for line in lines)


def scaling_lines(report: Facts) -> list[str]:
    """How time grows with the number of locations, where two sizes tell it."""
    said = "Time per trajectory grows with the number of locations to the power of (n above)"
    lines = [said]
    for name, found in report["scaling"].items():
        prepare = f", preparing {found['prepare_s']:.2f}" if "prepare_s" in found else ""
        lines.append(f"  {name} {found['us']:.2f}{prepare} ({found['sizes']} sizes)")
    return lines if len(lines) > 1 else ["No exponent: that takes two generated sizes"]


def start_up_table(report: Facts) -> str:
    header = ["mechanism", "locations", *(name for name, _ in START_UP.values())]
    rows = [
        [case["mechanism"], f"{case['locations']:,}", *cells(case, START_UP)]
        for case in report["start_up"]
    ]
    said = (
        "Seconds from the start of a process that reads a Parquet file of locations until "
        "the first 1,024 trajectories are perturbed"
    )
    reasons = [
        f"{case['mechanism']}: {NOT_MEASURED}, {case[NOT_MEASURED]}"
        for case in report["start_up"]
        if NOT_MEASURED in case
    ]
    return "\n".join([textwrap.fill(said, WIDTH), aligned(header, rows), *reasons])


def change_lines(report: Facts) -> list[str]:
    """Against the newest record of each case: one line each."""
    lines = ["Time relative to the reference, against the newest record of the same case"]
    for change in report["changes"]:
        case = f"{change['mechanism']} on {change['set']}"
        if change["since"] is None:
            lines.append(f"  {case}: no record of this case (--record adds one)")
            continue
        flag = "  REGRESSION" if change["regression"] else ""
        lines.append(f"  {case}: {change['change']:+.0%} since {change['since']}{flag}")
    return lines


def facts(report: Facts) -> dict[str, str]:
    """What documents show, by the name under which docs/measured.json keeps it."""
    return {
        "speed-run": of_the_run(report),
        "speed-us": by_set(report, "us", "µs per trajectory, one core"),
        "speed-all-cores": by_set(report, "all_cores_us", "µs per trajectory, all cores"),
        "speed-up": by_set(report, "speed_up", "times faster on all cores"),
        "speed-ratio": by_set(report, "ratio", "times faster than the reference"),
        "speed-bound": by_set(report, "times_bound", "times the lower bound"),
        "speed-randomness": by_set(report, "randomness_share", "share of randomness"),
        "speed-memory": by_set(report, "peak_mib", "peak MiB"),
        "speed-scaling": ", ".join(
            f"{name} {found['us']:.2f}" for name, found in report["scaling"].items()
        ),
        "speed-start-up": ", ".join(
            f"{case['mechanism']} {case['first_batch_s']:.1f} s"
            for case in report["start_up"]
            if "first_batch_s" in case
        ),
    }


def merged(known: dict[str, str], found: dict[str, str]) -> dict[str, str]:
    """What documents show of all mechanisms, when a run measured some: the others stay.

    The machine that is named stays that of the others.
    """
    return {name: _replaced(known.get(name, ""), value) for name, value in found.items()}


def _replaced(before: str, now: str) -> str:
    """A table with these rows, or a list with these entries, in place of their namesakes."""
    if before.count("\n") > 2 and before.split("\n")[1] == now.split("\n")[1]:
        rows = {line.split(" | ")[0]: line for line in now.split("\n") if line}
        old = [line for line in before.split("\n") if line]
        return "\n" + "\n".join(rows.get(line.split(" | ")[0], line) for line in old) + "\n"
    if "\n" in now or ";" in now:
        return now if "\n" in now else before or now
    entries = {each.split(" ")[0]: each for each in now.split(", ")}
    kept = {each.split(" ")[0]: each for each in before.split(", ") if each}
    return ", ".join((kept | entries).values())


def by_set(report: Facts, key: str, what: str) -> str:
    """A Markdown table on lines of its own: a row to a mechanism, a column to a set."""
    found = {(case["mechanism"], case["set"]): case for case in report["cases"]}
    names = list(dict.fromkeys(case["mechanism"] for case in report["cases"]))
    column = {key: COLUMNS[key]}
    rows = [
        [name, *(cells(found[name, on], column)[0] for on in report["sets"])] for name in names
    ]
    header = [what, *report["sets"]]
    lines = [header, ["---"] + ["---:"] * len(report["sets"]), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
