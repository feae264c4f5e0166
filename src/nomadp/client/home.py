"""Where a device keeps its ledger and its tasks: one folder for each person."""

import os
import sys
from pathlib import Path

__all__ = ["default_home"]


def default_home() -> Path:
    """``NOMADP_HOME``, or the folder that the platform has for a person's data."""
    if chosen := os.environ.get("NOMADP_HOME"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "nomadp"
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/nomadp"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "nomadp"
