"""The scripts of release/, which stand beside the package and import each other by name."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "release"))
