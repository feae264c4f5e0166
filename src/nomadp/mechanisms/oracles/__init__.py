"""Direct questions: what is released is a public label of a journey, and nothing besides."""

from nomadp.mechanisms.oracles.base import FrequencyOracle
from nomadp.mechanisms.oracles.kinds import Ends, Starts, Trips, Visits

__all__ = ["Ends", "FrequencyOracle", "Starts", "Trips", "Visits"]
