"""The protocol of devices and collectors: tasks, their public files, and the bytes of reports.

Everything here is public. docs/protocol.md specifies it for other languages.
"""

from nomadp.protocol.bundle import TaskBundle
from nomadp.protocol.resampling import resample
from nomadp.protocol.task import Task
from nomadp.protocol.values import ValueCode

__all__ = ["TaskBundle", "Task", "ValueCode", "resample"]
