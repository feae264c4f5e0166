"""The tables of docs/atlas.md, from the results of benchmarks/estimates.py.

python benchmarks/estimates_tables.py RESULTS     print them and write docs/measured.json

Mechanisms and sets that are not in RESULTS (estimates.py --only, --sets) keep their values in
docs/measured.json.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from estimates import DECODED, EPSILONS, NEW_SETS, NEW_TRACKS, PAPER_SETS, PIVOTS, RAW

MEASURED = Path(__file__).resolve().parent.parent / "docs" / "measured.json"
LABELS = {name: name.upper() for name in (*PAPER_SETS, *DECODED, *PIVOTS, *RAW)} | {
    "new-city": "new city",
    "new-scatter": "new scatter",
}
TIE = 0.001
"""Errors that differ by less count as equal at epsilon 1 and 2."""

Results = dict[tuple[str, str], dict[str, Any]]


def read(folder: Path) -> Results:
    names = (*PAPER_SETS, *NEW_SETS)
    paths = {(name, e): folder / f"{name}-{e}.json" for name in names for e in EPSILONS}
    complete = {name for name in names if all(paths[name, e].exists() for e in EPSILONS)}
    results = published(json.loads(MEASURED.read_text()))
    for key in results:
        if key[0] not in complete:
            continue
        for part, scores in json.loads(paths[key].read_text()).items():
            for kind, value in scores.items():
                if part == "cover":
                    results[key][part][kind] = value
                else:
                    results[key][part].setdefault(kind, {}).update(value)
    return results


SHOWN = (
    ("bayes-ne", "all", "ne", EPSILONS),
    ("bayes-near", "all", "prq", EPSILONS),
    ("bayes-transcripts", "sample", "ne", EPSILONS),
    *(
        (f"bayes-{it}", "counts", it, ("4", "8"))
        for it in ("acd", "recall", "density", "trips")
    ),
)
"""Tables of scores: the name, the part of the results, the score and the epsilons."""


def published(measured: dict[str, str]) -> Results:
    """The rounded scores in the existing tables."""
    parts = ("all", "sample", "counts", "cover")
    results: Results = {
        (name, e): {part: {} for part in parts}
        for name in (*PAPER_SETS, *NEW_SETS)
        for e in EPSILONS
    }
    name_of = {label: name for name, label in LABELS.items()}
    for table_name, part, score, epsilons in SHOWN:
        header, *rows = _cells(measured[table_name])
        for label, *cells in rows:
            first = max(
                (prefix for prefix in name_of if label.startswith(f"{prefix} ")),
                key=len,
                default="",
            )
            kind = name_of[first] + label.removeprefix(first) if first else label
            for column, cell in zip(header[1:], cells, strict=True):
                for e, value in zip(epsilons, cell.split(), strict=False):
                    scores = results[name_of[column], e][part].setdefault(kind, {})
                    scores[score] = float(value)
    header, points, cells = _cells(measured["bayes-cover"])
    for k, column in enumerate(header[1:], 1):
        for e, value in zip(EPSILONS, points[k].split(), strict=True):
            results[name_of[column], e]["cover"]["atlas learned"] = float(value) / 100
        for e, value in zip(("4", "8"), cells[k].split(), strict=True):
            results[name_of[column], e]["counts"]["atlas estimated"]["cover"] = (
                float(value) / 100
            )
    return results


def _cells(shown: str) -> list[list[str]]:
    """The cells of a table, with its header first."""
    lines = [line.strip("| ").split(" | ") for line in shown.split("\n")]
    header, _, *rows = (line for line in lines if len(line) > 1)
    return [header, *rows]


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def sets(results: Results) -> list[str]:
    return list(dict.fromkeys(name for name, _ in results))


def errors(results: Results) -> str:
    """The NE of every estimate."""
    kinds = ["constant", *(f"{name} reported" for name in (*PIVOTS, *RAW))]
    for name in reversed(DECODED):
        kinds += [f"{name} {kind}" for kind in ("reported", "decoded", "learned")]
    return _by_budget(results, kinds, lambda cell, kind: _share(cell["all"][kind]["ne"]))


def tracks(folder: Path) -> str:
    """The NE of ATLAS on long tracks."""
    if not (folder / f"{NEW_TRACKS}-{EPSILONS[-1]}.json").exists():
        return str(json.loads(MEASURED.read_text())["bayes-tracks"])
    results = [json.loads((folder / f"{NEW_TRACKS}-{e}.json").read_text()) for e in EPSILONS]
    rows = [
        [_labelled(kind), *(_share(cell["all"][kind]["ne"]) for cell in results)]
        for kind in (
            "constant",
            *(f"atlas {how}" for how in ("reported", "decoded", "learned")),
        )
    ]
    return table(["50 to 500 points", *(f"ε = {e}" for e in EPSILONS)], rows)


def transcripts(results: Results) -> str:
    """The NE of the same trips, decoded from transcripts of TP and ATP and from ATLAS."""
    kinds = ["constant", "tp decoded", "atp decoded", "atlas decoded", "atlas learned"]
    return _by_budget(results, kinds, lambda cell, kind: _share(cell["sample"][kind]["ne"]))


def near(results: Results) -> str:
    """The percentage of points near the true ones."""
    kinds = ["constant", "exp reported", "atp reported", "brr decoded", "atlas learned"]
    return _by_budget(results, kinds, lambda cell, kind: f"{cell['all'][kind]['prq']:.0f}")


def _by_budget(results: Results, kinds: list[str], shown: Callable[[Any, str], str]) -> str:
    """A row for each estimate, a column for each set, and all epsilons in one cell."""
    rows = [
        [_labelled(kind)]
        + [" ".join(shown(results[name, e], kind) for e in EPSILONS) for name in sets(results)]
        for kind in kinds
    ]
    return table([f"ε = {', '.join(EPSILONS)}", *map(LABELS.get, sets(results))], rows)


def _share(value: float) -> str:
    return f"{value:.4f}"[1:]


def ratios(folder: Path) -> str:
    """The ratio of the errors of strict ATP and ATLAS, over all trips of a set."""
    header, *rows = _cells(json.loads(MEASURED.read_text())["bayes-ratios"])
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    for name in PAPER_SETS:
        path = folder / f"{name}-ratios.json"
        if path.exists():
            errors = json.loads(path.read_text())
            columns[LABELS[name]] = tuple(
                cell for e in ("4", "10") for cell in _ratio(*errors[e])
            )
    return table([*columns], [[*row] for row in zip(*columns.values(), strict=True)])


def _ratio(atp: float, ne: float, near: float) -> tuple[str, ...]:
    """Both errors, their ratio, and the percentage of points near the true ones."""
    return f"{atp:.4f}"[1:], f"{ne:.4f}"[1:], f"{atp / ne:.2f}", f"{near:.1f} %"


def counts(results: Results, score: str, digits: int) -> str:
    """A score of visits, density or trips at epsilon 4 and 8."""
    kinds = ["flat"]
    kinds += [f"{name} counted" for name in (*RAW, *PIVOTS, *reversed(DECODED))]
    kinds += [f"{name} estimated" for name in reversed(DECODED)]
    kinds += ["other half", "other half, 1 km"]
    rows = []
    for kind in kinds:
        cells = [
            " ".join(
                f"{results[name, e]['counts'][kind][score]:.{digits}f}"
                for e in ("4", "8")
                if score in results[name, e]["counts"][kind]
            )
            for name in sets(results)
        ]
        if any(cells):
            rows.append([_labelled(kind), *cells])
    return table(["at ε = 4, 8", *map(LABELS.get, sets(results))], rows)


def covered(results: Results) -> str:
    """The coverage of the 90 % radii of points and of the 90 % intervals of cells."""
    points = [
        " ".join(
            f"{100 * results[name, e]['cover']['atlas learned']:.0f}"
            for e in EPSILONS
            if (name, e) in results
        )
        for name in sets(results)
    ]
    cells = [
        " ".join(
            f"{100 * results[name, e]['counts']['atlas estimated']['cover']:.0f}"
            for e in ("4", "8")
        )
        for name in sets(results)
    ]
    rows = [
        [f"credible radii of points, ε = {', '.join(EPSILONS)}", *points],
        ["confidence intervals of cells, ε = 4, 8", *cells],
    ]
    return table(["coverage in % (nominal: 90 %)", *map(LABELS.get, sets(results))], rows)


def beaten(results: Results, kind: str) -> Iterator[str]:
    """Cases in which another estimate has a smaller error than this estimate of ATLAS."""
    for (name, e), cell in results.items():
        slack = TIE if float(e) <= 2 else 0.0
        better = {}
        for trips in ("all", "sample"):
            ours = cell[trips][f"atlas {kind}"]["ne"]
            better |= {
                other: f"{_labelled(other)} {scores['ne']:.4f} (ours {ours:.4f})"
                for other, scores in cell[trips].items()
                if not other.startswith("atlas") and scores["ne"] < ours - slack
            }
        if better:
            yield f"{LABELS[name]} at ε = {e}: {', '.join(better.values())}"


def outdone(results: Results) -> Iterator[str]:
    """Cases in which the baseline or another mechanism is better for visits or density."""
    for (name, e), cell in results.items():
        ours = cell["counts"].get("atlas estimated", {})
        for score, label, digits in (("density", "density", 3), ("acd", "ACD", 2)):
            better = [
                f"{_labelled(other)} {scores[score]:.{digits}f}"
                for other, scores in cell["counts"].items()
                if not other.startswith(("atlas", "other"))
                and round(scores.get(score, 9e9), digits) < round(ours.get(score, 0.0), digits)
            ]
            if better:
                where = f"{label}, {LABELS[name]} at ε = {e}, ours {ours[score]:.{digits}f}"
                yield f"{where}: {', '.join(better)}"


def _labelled(kind: str) -> str:
    """The label of a kind of estimate, whose name in result files is shorter."""
    name, _, how = kind.partition(" ")
    how = {"learned": "fitted"}.get(how, how)
    return f"{LABELS[name]} {how}" if name in LABELS else {"flat": "baseline"}.get(kind, kind)


def _listed(lines: list[str]) -> str:
    return "\n" + "\n".join(f"- {line}" for line in lines or ["nowhere"]) + "\n"


def facts(folder: Path) -> dict[str, str]:
    results = read(folder)
    return {
        "bayes-ne": errors(results),
        "bayes-transcripts": transcripts(results),
        "bayes-tracks": tracks(folder),
        "bayes-ratios": ratios(folder),
        "bayes-near": near(results),
        "bayes-acd": counts(results, "acd", 2),
        "bayes-recall": counts(results, "recall", 2),
        "bayes-density": counts(results, "density", 3),
        "bayes-trips": counts(results, "trips", 3),
        "bayes-cover": covered(results),
        "bayes-beaten": _listed(list(beaten(results, "decoded"))),
        "bayes-beaten-fitted": _listed(list(beaten(results, "learned"))),
        "bayes-outdone": _listed(list(outdone(results))),
    }


def main(args: list[str]) -> int:
    tables = facts(Path(args[0]))
    for name, value in tables.items():
        print(f"{name}{value}")
    known = json.loads(MEASURED.read_text())
    known.update(tables)
    MEASURED.write_text(json.dumps(known, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
