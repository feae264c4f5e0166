"""Data sets for experiments: check-ins, campus walks and a synthetic city."""
