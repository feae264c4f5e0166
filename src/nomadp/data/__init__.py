"""Where data comes from: files of every kind, check-ins, campus walks, a synthetic city."""
