"""Frequency oracles: mechanisms that release one public label of a trajectory, perturbed."""

from nomadp.mechanisms.oracles.base import FrequencyOracle
from nomadp.mechanisms.oracles.kinds import Ends, Starts, Trips, Visits

__all__ = ["Ends", "FrequencyOracle", "Starts", "Trips", "Visits"]
