"""Perturb many trajectories: on this machine, as a stream of files, or on a cluster."""

from nomadp.engine.local import perturb_set

__all__ = ["perturb_set"]
