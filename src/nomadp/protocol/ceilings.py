"""Limits of every task: a device refuses a task that exceeds one, and never clips a value."""

from nomadp.mechanisms.atlas.lloyd import SIZE_MOST

__all__ = [
    "BATCH_MAX",
    "EPSILON_LIFETIME_DEFAULT",
    "EPSILON_LIFETIME_MAX",
    "EPSILON_REPORT_MAX",
    "CODEWORDS_MAX",
    "LABELS_MAX",
    "LENGTH_MAX",
    "LOCATIONS_MAX",
    "PRECISION_RANGE_S",
    "PURPOSE_MAX",
    "REPLY_BYTES_MAX",
    "REPORTS_MAX",
    "RETENTION_MAX_S",
    "SEND_WITHIN_MAX_S",
    "TASK_BYTES_MAX",
    "TASK_MAX_S",
    "UPLOAD_BYTES_MAX",
    "UPLOAD_REPORTS_MAX",
]

_DAY_S = 86_400

EPSILON_REPORT_MAX = 10
"""Largest epsilon of one report."""
EPSILON_LIFETIME_MAX = 100
"""Largest epsilon of one person in one task, and of a device over its lifetime."""
EPSILON_LIFETIME_DEFAULT = 20
"""Lifetime budget of a device, unless its owner chooses another for a new ledger."""
LOCATIONS_MAX = 65_536
"""Locations in the public location set."""
LABELS_MAX = 2**20
"""Labels of a frequency oracle, such as pairs of zones."""
LENGTH_MAX = 8
"""Points of an ATLAS report."""
CODEWORDS_MAX = SIZE_MOST
"""Codewords in the codebook of an ATLAS task."""
REPORTS_MAX = 366
"""Most reports of one person in one task."""
PRECISION_RANGE_S = (3600, 31 * _DAY_S)
"""Smallest and largest time precision of a report."""
TASK_MAX_S = 2 * 366 * _DAY_S
"""Duration of a task."""
RETENTION_MAX_S = 5 * 366 * _DAY_S
"""Retention period of a report."""
SEND_WITHIN_MAX_S = 7 * _DAY_S
"""Random delay before a report is sent."""
PURPOSE_MAX = 500
"""Characters of the purpose."""
BATCH_MAX = 10**9
"""Minimum batch size."""

TASK_BYTES_MAX = 16_384
"""Bytes of a task, without its files."""
UPLOAD_REPORTS_MAX = 100
"""Reports in one upload."""
UPLOAD_BYTES_MAX = 65_536
"""Bytes of one upload."""
REPLY_BYTES_MAX = 4096
"""Most bytes of a reply that a device reads."""
