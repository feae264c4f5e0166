"""Write tests/vectors: ``python tests/vectors_maker.py`` computes the answers to all inputs.

An answer that is already in a file is never changed: a law with other answers is a new version
and gets its own file. ``--force`` is for inputs that were wrong.
"""

import json
import sys
from collections import ChainMap
from functools import partial

import numpy as np
from known_answers import FOLDER, answer, world_of
from law_homes import MECHANISMS
from vector_rules import rules_of

from nomadp import make_mechanism
from nomadp.drawing import draw
from nomadp.randomness import SeededRandom

HOW_TO_READ = (
    "Each case asks something (ask) about a kind of thing (kind), and answer is what the law "
    "of this mechanism and version answers; tests/vectors/README.md explains every field."
)


def _listed(*rows):
    return {"locations": [{"id": name, "lat": lat, "lng": lng} for name, lat, lng in rows]}


def _generated(size, state, lat=(41_600_000, 400_000), lng=(-87_900_000, 500_000)):
    (lat_from, lat_count), (lng_from, lng_count) = lat, lng
    box = {
        "lat": {"from": lat_from, "count": lat_count},
        "lng": {"from": lng_from, "count": lng_count},
    }
    return {"generated": {"size": size, "state": state, **box}}


WORLDS = {
    "town": _listed(  # c and d are one place
        ("a", "41.8", "-87.6"),
        ("b", "41.82", "-87.6"),
        ("c", "41.85", "-87.55"),
        ("d", "41.85", "-87.55"),
        ("e", "41.79", "-87.68"),
        ("f", "41.9", "-87.63"),
        ("g", "41.8123", "-87.5811"),
    ),
    "date line": _listed(
        ("west", "-17.1", "179.9"),
        ("line", "-17.0", "180"),
        ("same", "-17.0", "-180"),
        ("east", "-16.8", "-179.7"),
        ("south", "-17.4", "-179.95"),
    ),
    "nearly between": _listed(  # going by way of the first is 7.5e-10 km longer
        ("between", "41.01", "-86.999999656"),
        ("start", "41.0", "-87"),
        ("end", "41.02", "-87"),
    ),
    "bend": _listed(  # the same, seen from regions of which few steps are possible
        ("south", "41.0", "-87"),
        ("between", "41.01", "-86.999999656"),
        ("north", "41.02", "-87"),
        ("beyond", "41.03", "-87"),
        ("aside", "41.01", "-86.9841"),
    ),
    "300": _generated(300, 1),
    "3000": _generated(3000, 2),
    "4096": _generated(4096, 3),
    "4097": _generated(4097, 3),
    "5000": _generated(5000, 4),
    "6000": _generated(6000, 5),
    "campus": _generated(260, 7, (41_800_000, 36_000), (-87_600_000, 50_000)),
    "pole": _generated(4100, 6, (89_999_950, 50), (-180_000_000, 360_000_000)),
}


class Aiming:
    """A `Choose` that records its words, some of which are chosen to draw a wanted value."""

    def __init__(self, seed, wanted):
        self.words, self._wanted = [], wanted
        self._stream = SeededRandom(seed).stream(0)

    def __call__(self, step, channel, secret):
        wanted = self._wanted.get(len(self.words))
        if wanted is None:
            return channel.draw(secret, self._next)
        before = np.append(0, np.cumsum(channel.weights(secret))).tolist()
        k = channel.outputs.tolist().index(wanted)
        self._stream.next()
        word = ((before[k] + before[k + 1]) << 63) // before[-1]
        self.words.append(f"{word:016x}")
        return draw(channel, secret, word)

    def _next(self):
        word = self._stream.next()
        self.words.append(f"{word:016x}")
        return word

    def each(self, tasks):
        return [program(secret, self) for program, secret in tasks]


def report(world, mechanism, epsilon, trajectory, wanted=None, hour=None, **options):
    seed = sum(trajectory) + 100 * len(trajectory) + len(options)
    choose = Aiming(seed, wanted or {})
    made = make_mechanism(mechanism, world_of(json.dumps(WORLDS[world])), epsilon, **options)
    made.perturb(made.read(np.array(trajectory), hour), choose)
    asked = {"mechanism": mechanism, "epsilon": epsilon, "options": options}
    asked |= {} if hour is None else {"hour": hour}
    return case("report", world=world, **asked, trajectory=trajectory, words=choose.words)


def case(kind, **ask):
    return {"kind": kind, "ask": ask}


TRIPS = ([4], [0, 2], [2, 3, 6], [5, 1, 1, 3])
EPSILONS = ("1/3", "1", "4", "20")


def everywhere(mechanism, **options):
    """Cases of every length, each at another epsilon, and of a set across the date line."""
    return [
        *(
            report("town", mechanism, epsilon, trip, **options)
            for trip, epsilon in zip(TRIPS, EPSILONS, strict=True)
        ),
        report("date line", mechanism, "2.5", [0, 2, 3], **options),
    ]


def exp():
    return [
        *everywhere("exp"),
        report("town", "exp", "0.1", TRIPS[3]),
        report("300", "exp", "1", [7, 250, 299]),
    ]


def tp():
    options = [
        {"granularity": "formula"},
        {"granularity": 2},
        {"granularity": 7},
        {"directions": "preceding"},
        {"merge": "first-index"},
        {"merge": "direction"},
        {"granularity": 12, "directions": "preceding", "merge": "direction"},
    ]
    epsilons = [str(k) for k in range(1, 21)] + ["1/10", "1/3", "7/2"]
    return [
        *everywhere("tp"),
        *(report("town", "tp", "6", trip, **one) for one in options for trip in TRIPS[1:]),
        report("300", "tp", "1", [7, 250, 299, 0]),
        # Both copies have one pivot and one target, at the start and the end in turn.
        report(
            "nearly between",
            "tp",
            "2",
            [1, 2],
            wanted={0: 1, 2: 2, 3: 1, 5: 2},
            merge="first-index",
        ),
        case("granularities", epsilons=epsilons, rules=["table", "formula"]),
    ]


def atp():
    options = [
        {"radius_km": 0.0},
        {"radius_km": 2.5},
        {"resolution": 1},
        {"resolution": 7},
        {"granularity": 5, "merge": "direction"},
        {"directions": "preceding", "merge": "first-index", "radius_km": 6.0},
    ]
    asked = [("1024", "3/16"), ("1024", "15/8"), ("100", "1/3")]
    return [
        *everywhere("atp"),
        *(report("town", "atp", "6", trip, **one) for one in options for trip in TRIPS[1:]),
        *(report(size, "atp", "2", [7, 250, 299, 0]) for size in ("3000", "4096", "4097")),
        report("5000", "atp", "2", [4999, 0, 7]),
        *(
            case(
                "radii",
                world=world,
                resolution=int(resolution),
                share=share,
                anchors=[0, 6] if world == "town" else [0, 17, 2999],
                cells=[0, 3, 40, 90, 100],
            )
            for world in ("town", "3000", "4096", "4097", "5000")
            for resolution, share in asked
        ),
    ]


def brr():
    shares = ["1/20", "1/3", "1", "3/2", "2", "4", "6", "10", "20"]
    return [
        *everywhere("brr"),
        *(report("town", "brr", "4", TRIPS[3], near_count=count) for count in (1, 3, 7)),
        report("300", "brr", "4", [7, 250, 299]),
        *(
            case("near_counts", world=world, shares=shares)
            for world in ("town", "300", "3000", "6000")
        ),
    ]


def l_srr():
    return [
        *everywhere("l-srr"),
        *(report("town", "l-srr", "4", TRIPS[3], groups=count) for count in (2, 3, 7, 100)),
        report("300", "l-srr", "4", [7, 250, 299]),
    ]


def ngram():
    options = [
        {"grid": 1},
        {"grid": 2},
        {"grid": 6},
        {"max_step_km": 5.0},
        {"grid": 3, "max_step_km": 7.5},
    ]
    bend = report(
        "bend",
        "ngram",
        "2",
        [0, 3],
        wanted={0: 0, 1: 3 * 5 + 4, 2: 2, 3: 0, 4: 1},
        max_step_km=1.6,
    )
    return [
        *everywhere("ngram"),
        *(report("town", "ngram", "6", trip, **one) for one in options for trip in TRIPS[1:]),
        report("300", "ngram", "1", [7, 250, 299]),
        bend,
    ]


def atlas():
    pages = [
        {"near_count": 1, "journeys": [[0], [3], [6]]},
        {"near_count": 2, "journeys": [[0, 1], [2, 3], [4, 5], [6, 0]]},
    ]
    pinned = {"recipe": "by hand", "epsilon": "2", "pages": pages}
    long = [0, 1, 6, 2, 3, 3, 5, 4, 0, 0, 1]
    return [
        *everywhere("atlas"),
        *(report("town", "atlas", "4", trip, size=20, near_count=5) for trip in TRIPS),
        *(report("town", "atlas", "3", long, control_points=n) for n in (2, 3)),
        *(report("town", "atlas", epsilon, long) for epsilon in ("1", "5", "6")),
        *(report("town", "atlas", "3", long[:n]) for n in (3, 8, 9)),
        *(_pinned(trip, pinned) for trip in (TRIPS[0], TRIPS[1], TRIPS[3])),
        report("3000", "atlas", "2", [2999], size=6),
        report("5000", "atlas", "2", [2999], size=6),
        *(
            case("atlas", world=world, length=length, size=size, epsilon=epsilon)
            for world, length, size, epsilon in (
                *(("town", 2, None, epsilon) for epsilon in ("1/10", "1", "3", "5", "9")),
                ("town", 4, 40, "1"),
                ("300", 1, None, "1"),
                ("300", 2, None, "4"),
                ("300", 2, 30, "2"),
                ("300", 1, 64, "8"),
                ("5000", 1, 6, "4"),
                ("campus", 3, None, "4"),
            )
        ),
        *(
            case("walks", world=world, length=length, count=count, purpose=purpose)
            for world in ("town", "3000", "4096", "4097", "5000", "campus", "pole")
            for length, count, purpose in ((2, 41, "fresh"), (5, 400, "design"))
        ),
        case("uniforms", words=["0" * 16, "f" * 16, "123456789abcdef0", "00000000000007ff"]),
    ]


def _pinned(trip, pinned):
    choose = Aiming(len(trip), {})
    choose._stream.next()
    word = f"{choose._stream.next():016x}"
    options = {"control_points": 2, "pinned": pinned}
    asked = {"mechanism": "atlas", "epsilon": "2", "options": options}
    return case("report", world="town", **asked, trajectory=trip, words=[word])


def books():
    """The codebooks behind the reports of atlas-3.json, for those who cannot design them."""
    asked = [
        *(("town", length, None, epsilon) for length, epsilon in ((1, "1/3"), (2, "1"))),
        ("town", 3, None, "4"),
        ("town", 4, None, "20"),
        ("date line", 3, None, "2.5"),
        *(("town", length, 20, "4") for length in (1, 2, 3, 4)),
        *(("town", length, None, "3") for length in (2, 3, 8)),
        *(
            ("town", length, None, epsilon)
            for length, epsilon in ((8, "1"), (8, "5"), (4, "6"))
        ),
        *((world, 1, 6, "2") for world in ("3000", "5000")),
    ]
    return [
        case("book", world=world, length=length, size=size, epsilon=epsilon)
        for world, length, size, epsilon in asked
    ]


def question(name):
    """Cases of a frequency oracle: with and without time, fine and coarse zones, both laws."""
    finest = {"zones": "grid:50" if name == "trips" else "grid:1000"}
    return [
        *everywhere(name),
        *everywhere(name, zones="grid:2"),
        *(
            report("town", name, "2", TRIPS[2], hour=hour, when=when)
            for when in ("day-part", "weekday")
            for hour in (0, 5, 6, 50, 167)
        ),
        report("300", name, "4", [7, 250, 299]),
        report("300", name, "1", [7, 250, 299], **finest),
        report("5000", name, "4", [7, 250, 4999], **finest),
    ]


WORDS = ["0" * 16, "f" * 16, "8" + "0" * 15, "123456789abcdef0", "d1b54a32d192ed03"]
SHARES = ("1/20", "1/3", "1", "5", "20")


def channels():
    return [law for share in SHARES for law in _channels(share)] + [
        case("law", name="Uniform", share="0", size=size, secrets=[None, 1, 2], words=WORDS)
        for size in (2, 5)
    ]


def _channels(share):
    asked = {"share": share, "words": WORDS}
    world = asked | {"world": "town", "secrets": [0, 2, 6]}
    disc = {"anchor": 1, "radius_km": 6.0}
    table = {"table_km": [[0.0, 1.5, 4.0], [1.5, 0.0, 3.25]], "columns": [7, 1, 5]}
    return [
        *(
            case("law", name="RandomizedResponse", size=size, secrets=[0, size - 1], **asked)
            for size in (2, 6)
        ),
        *(
            case("law", name="SquareWave", resolution=cells, secrets=[0, cells - 1], **asked)
            for cells in (1, 7, 100)
        ),
        case("law", name="Exponential", domain=[0, 1, 2, 5], span_km=14.0, disc=None, **world),
        case("law", name="Exponential", domain=[0, 1, 6], span_km=12.0, disc=disc, **world),
        case("law", name="TableExponential", span_km=4.0, secrets=[0, 1], **table, **asked),
        *(case("law", name="Subset", near_count=count, **world) for count in (1, 3, 7)),
        *(case("law", name="Staircase", groups=count, **world) for count in (2, 3, 9)),
    ]


def label_laws():
    sizes = [1, 2, 3, 16, 256, 5000, 16384, 16385, 32768, 65536, 65537, 10**6, 3 * 10**6, 2**24]
    shares = ["1/1000000", "1/10", "1", "2", "4", "5", "6", "13/2", "15/2", "8", "17/2"]
    shares += ["10", "20"]
    sets = [(1, 1), (2, 1), (5, 2), (5, 4), (12, 5), (300, 6)]
    spaces = [(2, 2, 2), (7, 2, 4), (9, 3, 3), (40, 7, 3), (2800, 53, 3)]
    return [
        case("label_laws", sizes=sizes, shares=shares),
        # Where a label is two bytes, or three; where two counts are equally good.
        case("label_laws", sizes=[65536, 65537, 10**5], shares=["9/2", "19/4"]),
        case("label_laws", sizes=[2, 3, 4, 5], shares=["1/100000000"]),
        *(
            _label_law("SubsetSelection", share, 1 + count, size=size, count=count)
            for size, count in sets
            for share in ("1/3", "4")
        ),
        *(
            _label_law("ProjectiveResponse", "4", t, size=size, order=q, dimensions=t)
            for size, q, t in spaces
        ),
        *(
            case(
                "supports",
                size=size,
                order=q,
                dimensions=t,
                points=[0, 1, 2, q, q + 1],
                counts=[1, 2, 3, 4, 9],
            )
            for size, q, t in spaces[1:4]
        ),
    ]


def _label_law(name, share, width, **facts):
    stream = SeededRandom(facts["size"]).stream(width)
    ends = [["0" * 16] * max(2, width), ["f" * 16] * max(2, width)]
    words = [[f"{stream.next():016x}" for _ in ends[0]] for _ in range(4)] + ends
    secrets = sorted({0, facts["size"] // 2, facts["size"] - 1})
    return case("label_law", name=name, share=share, secrets=secrets, words=words, **facts)


def bounds():
    shares = [*SHARES, "1/1000", "9/64", "5/2", "10", "15", "39/2"]
    units = [2**24, 2**32]
    sizes = [2, 8192, 10**6, 10**9]
    return [
        case("heaviest_weights", shares=shares, units=units, sizes=sizes),
        case("half_widths", shares=[*shares, "12", "17", "19", "20", "41/2", "50"]),
    ]


def randomness():
    key = "".join(f"{7 * k % 256:02x}" for k in range(32))
    sources = ({"seed": 0}, {"seed": 7}, {"seed": 123456789012345}, {"key": key})
    purposes = (None, "", "atlas/1")
    names = (None, ["trip 1", "trip 2", "Trip 1", "\u00fc" * 40, "\u00fc" * 40 + "!"])
    return [
        case("stream", source=one, bound_to=purpose, names=named, index=index, count=3)
        for one in sources
        for purpose in purposes
        for named in names
        for index in ((0, 1, 5, 2**40) if named is None else range(len(named)))
    ] + [case("stream", source={"seed": 7}, bound_to=None, names=None, index=3, count=70)]


def many():
    """Cases of every mechanism, with the options that its fast path reads."""
    options = {
        "tp": [{"directions": "preceding"}, {"merge": "first-index", "granularity": 7}],
        "atp": [{"radius_km": 9.0}, {"resolution": 7, "merge": "direction"}],
        "brr": [{"near_count": 3}],
        "l-srr": [{"groups": 3}],
        "ngram": [{"max_step_km": 12.0}],
        "atlas": [{"size": 30, "control_points": 3}],
        "trips": [{"zones": "grid:2", "when": "weekday"}],
        "visits": [{"zones": "grid:3", "when": "day-part"}],
    }
    return [
        _many(world, size, mechanism, one)
        for mechanism in MECHANISMS
        for world, size in (("town", 7), ("300", 300))
        for one in [{}, *options.get(mechanism, [])]
    ]


def _many(world, size, mechanism, options):
    trips = [[(3 * k + 5 * i * i) % size for i in range(k % 5 + 1)] for k in range(25)]
    asked = {"mechanism": mechanism, "epsilon": "5", "options": options}
    if mechanism == "atlas":
        asked["options"] = {"size": 20} | options
    if "when" in options:
        asked["hours"] = [7 * k % 168 for k in range(len(trips))]
    return case("many", world=world, **asked, trajectories=trips, seed=11)


MAKERS = {"exp": exp, "tp": tp, "atp": atp, "brr": brr, "l-srr": l_srr, "ngram": ngram}
MAKERS |= {"atlas": atlas}
MAKERS |= {name: partial(question, name) for name in ("trips", "starts", "ends", "visits")}
OTHERS = {
    "laws": lambda: channels() + bounds(),
    "labels": label_laws,
    "books": books,
    "randomness": randomness,
    "many": many,
}


def files():
    """Yield the name, the header and the cases of every file."""
    for name, kind in MECHANISMS.items():
        head = {"mechanism": name, "version": kind.version}
        yield f"{name}-{kind.version}", head, MAKERS[name]()
    for name, make in OTHERS.items():
        yield name, {}, make()


def main(force):
    """Write all files; a file whose known answers would change is refused."""
    for name, head, asked in files():
        used = {one["ask"]["world"] for one in asked if "world" in one["ask"]}
        worlds = {world: WORLDS[world] for world in WORLDS if world in used}
        write(name, {**head, "how_to_read": HOW_TO_READ, "worlds": worlds}, asked, force)


def write(name, head, asked, force):
    """Compute the answers for the worlds in a header, and write the file."""
    worlds = head["worlds"]
    answered = [one | {"answer": answer(one, worlds)} for one in asked]
    cases = [{"kind": one["kind"], "rules": rules_of(one)} | one for one in answered]
    path = FOLDER / f"{name}.json"
    if path.exists() and not force:
        check_unchanged(json.loads(path.read_text(encoding="utf-8")), cases, worlds)
    path.write_text(_written(head, cases), encoding="utf-8")


def check_unchanged(old, cases, worlds):
    new = {_key(one, worlds): one["answer"] for one in cases}
    changed = [
        one["ask"] for one in old["cases"] if new.get(_key(one, old["worlds"])) != one["answer"]
    ]
    if changed:
        raise SystemExit(
            f"known answers must stay as they are, {len(changed)} of {old.get('mechanism')} "
            f"would change or go, the first to {json.dumps(changed[0])}; make a new version "
            "of the mechanism, or give --force if the question was wrong"
        )


def _key(one, worlds):
    """The content of a case as a key: a world may be renamed, but not changed."""
    ask = ChainMap({"world": worlds.get(one["ask"].get("world"))}, one["ask"])
    return json.dumps([one["kind"], dict(ask)], sort_keys=True)


def _written(head, cases):
    lines = ",\n".join(json.dumps(one) for one in cases)
    worlds = head.pop("worlds")
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in worlds.items())
    facts = json.dumps(head)[:-1]
    return f'{facts},\n"worlds": {{\n{rows}\n}},\n"cases": [\n{lines}\n]}}\n'


if __name__ == "__main__":
    main("--force" in sys.argv[1:])
