"""What a task promises whoever takes part, in words and in numbers that are rounded up."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil
from typing import Any

from nomadp.budget import exp_lower, exp_upper, format_epsilon, posterior_bounds
from nomadp.mechanisms.atlas.codebook import CodewordResponse
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.protocol.bundle import TaskBundle
from nomadp.zones import Zones

__all__ = ["Guarantee"]

_ASKS = {
    "trips": "in which area a journey begins and in which it ends",
    "starts": "in which area a journey begins",
    "ends": "in which area a journey ends",
    "visits": "in which area one point of a journey is, which the device draws",
}
_WHEN = {
    "day-part": ", and in which six hours of the day",
    "weekday": ", and on which day of the week",
}
NAMES_MOST = 12
"""Areas with names of their own are named, up to so many."""
BEYOND_CALENDAR = "9999-12-31 or later"
_SEEN = (
    "the collector: the task, a random id for each report, its value and its day or other time "
    "of the task's precision",
    "the network, and the collector unless a relay stands between: your address, when you "
    "send, and that you take part; that collector also which reports came from there",
)
_UNSEEN = "nobody but your device: the journey and its number of points"


@dataclass(frozen=True)
class Guarantee:
    """Of a task whose files were checked."""

    bundle: TaskBundle

    @property
    def odds(self) -> str:
        """e^epsilon of one report, rounded up."""
        return format_epsilon(exp_upper(self.bundle.task.epsilon), digits=2)

    @property
    def times(self) -> str:
        """The same as people say it: in few digits, rounded up."""
        return _plain(exp_upper(self.bundle.task.epsilon))

    @property
    def odds_in_all(self) -> str:
        """The same of all reports that one person may send."""
        return format_epsilon(exp_upper(self.bundle.task.epsilon_in_all), digits=2)

    @property
    def largest_ratio(self) -> Fraction:
        """How much likelier any report is under one journey than under another: exactly, from
        the law's weights and from the words that draw it."""
        mechanism = self.bundle.mechanism
        law: Any
        if isinstance(mechanism, FrequencyOracle):
            law = mechanism.channel
        else:
            made = mechanism.report_law(self.bundle.report_length)
            law = None if made is None else made.channel
        if isinstance(law, CodewordResponse) and law.near_count == law.size:
            return Fraction(1)  # all weigh the same
        return Fraction(max(law.bound, law.in_words))

    @property
    def holds(self) -> bool:
        """Whether that is at most e^epsilon, in rational arithmetic."""
        return self.largest_ratio <= exp_lower(self.bundle.task.epsilon)

    @property
    def asks(self) -> str:
        """What a report is about."""
        task, book = self.bundle.task, self.bundle.book
        if task.asks:
            when = _WHEN.get(task.params.get("when", ""), "")
            areas = _areas(book)  # type: ignore[arg-type]  # zones, as it asks
            return f"{_ASKS[task.mechanism]}{when}; the areas are {areas}"
        journeys = len(book.tables[0].codewords)  # type: ignore[union-attr]  # an atlas then
        if task.length == 1:
            return f"which of {journeys} public places the first point of a journey is like"
        return (
            f"which of {journeys} public journeys of {task.length} points yours is like, "
            "however long it is"
        )

    @property
    def guaranteed(self) -> str:
        return (
            f"take any two journeys, of any length; whatever is sent is at most {self.times} "
            "times likelier under one than under the other (epsilon "
            f"{self.bundle.task.epsilon})"
        )

    @property
    def adds_up(self) -> str:
        task = self.bundle.task
        if task.reports_per_contributor == 1:
            return (
                f"you send one report, and spend {task.epsilon} of your device's budget; other "
                "tasks add to it"
            )
        return (
            f"up to {task.reports_per_contributor} reports from you add up to epsilon "
            f"{task.epsilon_in_all}, odds of {_plain(exp_upper(task.epsilon_in_all))} to 1; "
            "other tasks add to it"
        )

    @property
    def posterior_bounds(self) -> dict[str, str]:
        """In percent: what a suspicion can grow to at most by one report."""
        return posterior_bounds(exp_upper(self.bundle.task.epsilon))

    @property
    def not_covered(self) -> tuple[str, ...]:
        task = self.bundle.task
        sent = f"at a random moment within {_span(task.send_within)} unless you ask for now"
        return (
            "that you take part, and your address on the network",
            f"when: a report tells its time to within {_span(task.time_precision)}, and is "
            f"sent {sent if task.send_within else 'at once'}",
            "what follows about everybody from all reports together",
            "a device that is not yours alone, or that lies to you",
        )

    @property
    def seen(self) -> tuple[str, ...]:
        """Who sees what."""
        analysts = (
            f"analysts: totals of at least {self.bundle.task.min_batch_size} reports; who "
            "subtracts one from another may be left with single reports, of which all this "
            "holds, too"
        )
        return *_SEEN, analysts, _UNSEEN

    @property
    def dates(self) -> tuple[str, str]:
        """The first moment and the first after the last, in UTC."""
        task = self.bundle.task
        unit = task.time_precision
        return _moment(task.start * unit), _moment(task.end * unit)

    def as_dict(self) -> dict[str, Any]:
        return {
            "asks": self.asks,
            "from": self.dates[0],
            "until": self.dates[1],
            "guaranteed": self.guaranteed,
            "odds_at_most": self.odds,
            "times_at_most": self.times,
            "odds_in_all_at_most": self.odds_in_all,
            "posterior_bounds": self.posterior_bounds,
            "adds_up": self.adds_up,
            "not_covered": list(self.not_covered),
            "seen": list(self.seen),
            "largest_ratio_at_most": format_epsilon(self.largest_ratio, digits=9),
        }

    def lines(self) -> list[str]:
        """The same as text."""
        grown = ", ".join(f"{old} % to {new} %" for old, new in self.posterior_bounds.items())
        return [
            f"asks         {self.asks}",
            f"when         from {self.dates[0]} until {self.dates[1]} UTC",
            f"guaranteed   {self.guaranteed}",
            f"a suspicion  can grow by one report at most from {grown}",
            f"adds up      {self.adds_up}",
            *_listed("not covered", self.not_covered),
            *_listed("who sees", self.seen),
        ]


def _plain(odds: Fraction) -> str:
    """Rounded up: whole from 10 on, and with as many digits below as make a difference."""
    if odds >= 10:
        return f"{ceil(odds):,}"
    return format_epsilon(odds, digits=1 if odds >= 2 else 2)


def _areas(zones: Zones) -> str:
    """Which areas there are, for somebody who knows the place and no rule."""
    kind, _, number = zones.rule.partition(":")
    if kind == "grid":
        return f"{len(zones)} cells of a grid of {number} by {number}"
    if kind == "h3":
        return f"{len(zones)} hexagons (H3, resolution {number})"
    names = zones.names
    if len(names) > NAMES_MOST:
        return f"{', '.join(names[: NAMES_MOST - 2])} and {len(names) - NAMES_MOST + 2} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _moment(unix_s: int) -> str:
    try:
        found = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=unix_s)
    except OverflowError:
        return BEYOND_CALENDAR
    return f"{found:%Y-%m-%d %H:%M}"


def _span(seconds: int) -> str:
    units = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}
    name, size = next((name, size) for name, size in units.items() if not seconds % size)
    count = seconds // size
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def _listed(name: str, several: tuple[str, ...]) -> list[str]:
    return [f"{name if not k else '':<13}{each}" for k, each in enumerate(several)]
