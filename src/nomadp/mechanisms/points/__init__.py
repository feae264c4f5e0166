"""Every point on its own: EXP by the exponential mechanism, BRR and L-SRR by rank."""
