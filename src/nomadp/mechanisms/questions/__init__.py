"""Direct questions: what is released is a public label of a journey, and nothing besides."""

from nomadp.mechanisms.questions.base import Question
from nomadp.mechanisms.questions.kinds import Ends, Starts, Trips, Visits

__all__ = ["Ends", "Question", "Starts", "Trips", "Visits"]
