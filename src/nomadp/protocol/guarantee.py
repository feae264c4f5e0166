"""The privacy guarantee of a task, in plain sentences and in numbers that are rounded up.

The sentences are derived from the task and its law whenever they are shown. They are not part
of the task, so its id does not depend on them.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import ceil
from textwrap import wrap
from typing import Any

from nomadp.budget import exp_lower, exp_upper, format_epsilon, posterior_bounds
from nomadp.mechanisms.atlas.codebook import CodewordResponse
from nomadp.mechanisms.oracles import FrequencyOracle
from nomadp.protocol.bundle import TaskBundle
from nomadp.zones import Zones

__all__ = ["Guarantee"]

_SUBJECTS = {
    "trips": "the area where a journey starts and the area where it ends",
    "starts": "the area where a journey starts",
    "ends": "the area where a journey ends",
    "visits": "the area of one point of a journey, which the device picks at random",
}
_TIMES = {
    "day-part": ", and the part of the day (six hours)",
    "weekday": ", and the day of the week",
}
NAMES_MAX = 12
"""If there are more areas with names of their own, only the first few are listed."""
WIDTH = 100
"""Characters in a line of the text."""
BEYOND_CALENDAR = "9999-12-31 or later"
_SEEN = (
    "the collector: the task and, for each report, a random id, its value, and its time to the "
    "precision of the task",
    "the network, and the collector if no relay is used: your address, when you send, and that "
    "you take part; without a relay, the collector also sees which reports came from your "
    "address",
)
_UNSEEN = "only your device: your journey and its number of points"


@dataclass(frozen=True)
class Guarantee:
    """The privacy guarantee of a task whose files were checked."""

    bundle: TaskBundle

    @property
    def odds(self) -> str:
        """e^epsilon of one report, rounded up."""
        return format_epsilon(exp_upper(self.bundle.task.epsilon), digits=2)

    @property
    def times(self) -> str:
        """The odds in few digits, for a sentence."""
        return _plain(exp_upper(self.bundle.task.epsilon))

    @property
    def odds_in_all(self) -> str:
        """e^epsilon of all reports that one person may send, rounded up."""
        return format_epsilon(exp_upper(self.bundle.task.epsilon_in_all), digits=2)

    @property
    def largest_ratio(self) -> Fraction:
        """How many times as likely a report can be for one journey as for another, exactly.

        The larger of two ratios: that of the law's integer weights, and that of the numbers of
        64-bit words that draw an output.
        """
        mechanism = self.bundle.mechanism
        law: Any
        if isinstance(mechanism, FrequencyOracle):
            law = mechanism.channel
        else:
            report_law = mechanism.report_law(self.bundle.report_length)
            law = None if report_law is None else report_law.channel
        if isinstance(law, CodewordResponse) and law.near_count == law.size:
            return Fraction(1)  # every codeword has the same weight
        return Fraction(max(law.bound, law.word_ratio))

    @property
    def holds(self) -> bool:
        """Whether the largest ratio is at most e^epsilon, decided in rational arithmetic."""
        return self.largest_ratio <= exp_lower(self.bundle.task.epsilon)

    @property
    def asks(self) -> str:
        """What a report is about, as a phrase."""
        task, domain = self.bundle.task, self.bundle.domain
        if task.is_oracle:
            when = _TIMES.get(task.params.get("when", ""), "")
            areas = _areas(domain)  # type: ignore[arg-type]  # zones, as it is a frequency oracle
            return f"{_SUBJECTS[task.mechanism]}{when}; the areas are {areas}"
        codewords = len(domain.tables[0].codewords)  # type: ignore[union-attr]  # a codebook then
        if task.length == 1:
            return (
                f"which of {codewords} public places the first point of a journey is close to"
            )
        return (
            f"which of {codewords} public journeys of {task.length} points your journey "
            "resembles, whatever its length"
        )

    @property
    def guaranteed(self) -> str:
        return (
            "any journey of any length can lead to the same report, and no journey makes that "
            f"report more than {self.times} times as likely as another journey does (epsilon "
            f"{self.bundle.task.epsilon})"
        )

    @property
    def certainty(self) -> str:
        """The guarantee as a bound on what somebody can conclude from a report."""
        (before, after), *others = self.posterior_bounds.items()
        is_single = self.bundle.task.reports_per_contributor == 1
        report = "your report" if is_single else "one of your reports"
        rest = "; ".join(f"{low} %: at most {high} %" for low, high in others)
        return (
            f"someone who is {before} % sure of a guess can become at most {after} % sure "
            f"after seeing {report} ({rest})"
        )

    @property
    def noise(self) -> str:
        """How often a report contains the truth, from the weights of its law."""
        mechanism = self.bundle.mechanism
        if isinstance(mechanism, FrequencyOracle):
            if mechanism.label_count == 1:
                return "every report contains the true answer: there is only one answer"
            true_share = f"{_in_100(mechanism.channel.true_chance)} reports"
            return (
                f"{true_share} contain the true answer; nobody can be sure whether yours does"
            )
        report_law: Any = mechanism.report_law(self.bundle.report_length)
        law = report_law.channel
        if law.near_count == law.size:
            return "every report is drawn uniformly at random, whatever the journey"
        noun = "place" if self.bundle.task.length == 1 else "journey"
        is_one = law.near_count == 1
        near = f"the public {noun}" if is_one else f"one of the {law.near_count} public {noun}s"
        # One draw names a codeword; each of the near ones has the chance of the heavy weight.
        near_share = f"{_in_100(law.near_count * law.extremes[1])} reports name {near}"
        return f"{near_share} closest to the true one; nobody can be sure whether yours does"

    @property
    def adds_up(self) -> str:
        task = self.bundle.task
        if task.reports_per_contributor == 1:
            return (
                f"you can send one report to this task, and it uses {task.epsilon} of your "
                "device's privacy budget; reports to other tasks add to that"
            )
        return (
            f"you can send up to {task.reports_per_contributor} reports to this task; "
            f"together they use {task.epsilon_in_all} of your device's privacy budget and are "
            f"at most {_plain(exp_upper(task.epsilon_in_all))} times as likely for some "
            "journeys as for others; reports to other tasks add to that"
        )

    @property
    def posterior_bounds(self) -> dict[str, str]:
        """Largest posterior probability of a guess after one report, by its prior; in %."""
        # Bayes: posterior odds are at most e^epsilon times the prior odds, for any prior.
        return posterior_bounds(exp_upper(self.bundle.task.epsilon))

    @property
    def not_covered(self) -> tuple[str, ...]:
        task = self.bundle.task
        sent = "at once"
        if task.send_within:
            span = _span(task.send_within)
            sent = f"at a random moment within {span}, unless you choose to send it now"
        return (
            "that you take part, and your network address",
            f"when you report: a report gives its time to within {_span(task.time_precision)}, "
            f"and is sent {sent}",
            "what all reports together show about people in general",
            "a shared or compromised device",
        )

    @property
    def seen(self) -> tuple[str, ...]:
        """Who sees what."""
        n = self.bundle.task.min_batch_size
        analysts = (
            f"analysts: totals over at least {n} report{'' if n == 1 else 's'}; by subtracting "
            "totals, they may isolate single reports, and the guarantee holds for those, too"
        )
        return *_SEEN, analysts, _UNSEEN

    @property
    def dates(self) -> tuple[str, str]:
        """When the task starts, and when it ends (exclusive), in UTC."""
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
            "certainty": self.certainty,
            "noise": self.noise,
            "adds_up": self.adds_up,
            "not_covered": list(self.not_covered),
            "seen": list(self.seen),
            "largest_ratio_at_most": format_epsilon(self.largest_ratio, digits=9),
        }

    def lines(self) -> list[str]:
        """The guarantee as text, wrapped."""
        start, end = self.dates
        paragraphs = {
            "reports": (self.asks,),
            "period": (f"from {start} until {end} UTC",),
            "guarantee": (self.guaranteed,),
            "certainty": (self.certainty,),
            "noise": (self.noise,),
            "budget": (self.adds_up,),
            "not covered": self.not_covered,
            "who sees": self.seen,
        }
        return [
            line for label, items in paragraphs.items() for line in _paragraph(label, items)
        ]


def _in_100(chance: Fraction) -> str:
    """A share of reports in words; never all or none of them, since neither can occur."""
    count = round(100 * chance)
    if count == 0:
        return "fewer than 1 in 100"
    return f"about {count} in 100" if count < 100 else "more than 99 in 100"


def _plain(odds: Fraction) -> str:
    """Rounded up: a whole number from 10 on, one digit from 2 on, two digits below."""
    if odds >= 10:
        return f"{ceil(odds):,}"
    return format_epsilon(odds, digits=1 if odds >= 2 else 2)


def _areas(zones: Zones) -> str:
    """The areas, in words for somebody who knows the place but not the zones rule."""
    kind, _, number = zones.rule.partition(":")
    if kind == "grid":
        return f"the {len(zones)} cells of a {number}-by-{number} grid"
    if kind == "h3":
        return f"{len(zones)} hexagons (H3, resolution {number})"
    names = zones.names
    if len(names) > NAMES_MAX:
        return f"{', '.join(names[: NAMES_MAX - 2])} and {len(names) - NAMES_MAX + 2} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _moment(unix_s: int) -> str:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=unix_s)
    except OverflowError:
        return BEYOND_CALENDAR
    return f"{moment:%Y-%m-%d %H:%M}"


def _span(seconds: int) -> str:
    units = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}
    name, size = next((name, size) for name, size in units.items() if not seconds % size)
    count = seconds // size
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def _paragraph(label: str, items: tuple[str, ...]) -> list[str]:
    """Items below each other beside their label; a long one continues with an indent."""
    indent, wrapped = " " * 13, []
    for item in items:
        several = " " * (2 if len(items) > 1 else 0)
        wrapped += wrap(item, WIDTH, initial_indent=indent, subsequent_indent=indent + several)
    wrapped[0] = f"{label:<13}{wrapped[0].lstrip()}"
    return wrapped
