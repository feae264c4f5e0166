"""Where data comes from: files of locations, trajectories and reports, and a synthetic city."""
