"""Where many trajectories are perturbed at once."""

from nomadp.engine.local import perturb_set

__all__ = ["perturb_set"]
