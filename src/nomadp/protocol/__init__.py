"""What device and collector agree on: the task, its public files, and the bytes of a report.

Everything here is public. docs/protocol.md says the same for other languages.
"""

from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.resampling import resample
from nomadp.protocol.task import Task
from nomadp.protocol.values import ValueCode

__all__ = ["TaskBundle", "Task", "ValueCode", "resample"]
