"""The results of a speed run as printed tables and as values for the documents."""

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
    """The results of a run as text."""
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
    rows, reasons = [], [f"{label}: skipped, {key}" for label, key in report["skipped"].items()]
    for on in report["sets"]:
        for case in (case for case in report["cases"] if case["set"] == on):
            rows.append([on, case["mechanism"], *cells(case, COLUMNS)])
            for key in (NOT_MEASURED, "no_speed_up", "stopped", "failed"):
                if key in case and not (key in ("stopped", "failed") and NOT_MEASURED in case):
                    label = "no speed-up" if key == "no_speed_up" else key
                    reasons.append(f"{case['mechanism']} on {on}: {label}, {case[key]}")
    return "\n".join([aligned(header, rows), *reasons])


def cells(case: Facts, columns: dict[str, tuple[str, str]]) -> list[str]:
    return [
        shape.format(case[key]) if key in case else "-" for key, (_, shape) in columns.items()
    ]


def aligned(header: list[str], rows: list[list[str]]) -> str:
    """Align the columns: names left, figures right."""
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
    heading = "Time per trajectory grows with the number of locations to the power of (n above)"
    lines = [heading]
    for name, exponents in report["scaling"].items():
        prepare = (
            f", preparing {exponents['prepare_s']:.2f}" if "prepare_s" in exponents else ""
        )
        lines.append(f"  {name} {exponents['us']:.2f}{prepare} ({exponents['sizes']} sizes)")
    return lines if len(lines) > 1 else ["No exponent: that takes two generated sizes"]


def start_up_table(report: Facts) -> str:
    header = ["mechanism", "locations", *(name for name, _ in START_UP.values())]
    rows = [
        [case["mechanism"], f"{case['locations']:,}", *cells(case, START_UP)]
        for case in report["start_up"]
    ]
    heading = (
        "Seconds from the start of a process that reads a Parquet file of locations until "
        "the first 1,024 trajectories are perturbed"
    )
    reasons = [
        f"{case['mechanism']}: {NOT_MEASURED}, {case[NOT_MEASURED]}"
        for case in report["start_up"]
        if NOT_MEASURED in case
    ]
    return "\n".join([textwrap.fill(heading, WIDTH), aligned(header, rows), *reasons])


def change_lines(report: Facts) -> list[str]:
    """The comparison of each case with its newest record."""
    lines = ["Time relative to the reference, compared with the newest record of the same case"]
    for change in report["changes"]:
        case = f"{change['mechanism']} on {change['set']}"
        if change["since"] is None:
            lines.append(f"  {case}: no record of this case (--record adds one)")
            continue
        flag = "  REGRESSION" if change["regression"] else ""
        lines.append(f"  {case}: {change['change']:+.0%} since {change['since']}{flag}")
    return lines


def facts(report: Facts) -> dict[str, str]:
    """Values for docs/measured.json, by name."""
    return {
        "speed-run": of_the_run(report),
        "speed-us": by_set(report, "us", "µs per trajectory, one core"),
        "speed-all-cores": by_set(report, "all_cores_us", "µs per trajectory, all cores"),
        "speed-up": by_set(report, "speed_up", "speed-up on all cores"),
        "speed-ratio": by_set(report, "ratio", "speed-up over the reference"),
        "speed-bound": by_set(report, "times_bound", "time / lower bound"),
        "speed-randomness": by_set(report, "randomness_share", "time on random words"),
        "speed-memory": by_set(report, "peak_mib", "peak memory, MiB"),
        "speed-scaling": ", ".join(
            f"{name} {exponents['us']:.2f}" for name, exponents in report["scaling"].items()
        ),
        "speed-start-up": ", ".join(
            f"{case['mechanism']} {case['first_batch_s']:.1f} s"
            for case in report["start_up"]
            if "first_batch_s" in case
        ),
    }


def merged(known: dict[str, str], new: dict[str, str]) -> dict[str, str]:
    """Values of all mechanisms after a run that measured only some; the others do not change.

    The description of the machine does not change either.
    """
    return {name: _replaced(known.get(name, ""), value) for name, value in new.items()}


def _replaced(old_text: str, new_text: str) -> str:
    """The old table or list with the rows or entries of the new one replaced."""
    if old_text.count("\n") > 2 and old_text.split("\n")[1] == new_text.split("\n")[1]:
        rows = {line.split(" | ")[0]: line for line in new_text.split("\n") if line}
        old = [line for line in old_text.split("\n") if line]
        return "\n" + "\n".join(rows.get(line.split(" | ")[0], line) for line in old) + "\n"
    if "\n" in new_text or ";" in new_text:
        return new_text if "\n" in new_text else old_text or new_text
    entries = {entry.split(" ")[0]: entry for entry in new_text.split(", ")}
    existing = {entry.split(" ")[0]: entry for entry in old_text.split(", ") if entry}
    return ", ".join((existing | entries).values())


def by_set(report: Facts, key: str, title: str) -> str:
    """A Markdown table with a row for each mechanism and a column for each set."""
    case_of = {(case["mechanism"], case["set"]): case for case in report["cases"]}
    names = list(dict.fromkeys(case["mechanism"] for case in report["cases"]))
    column = {key: COLUMNS[key]}
    rows = [
        [name, *(cells(case_of[name, on], column)[0] for on in report["sets"])]
        for name in names
    ]
    header = [title, *report["sets"]]
    lines = [header, ["---"] + ["---:"] * len(report["sets"]), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
