"""Points perturbed separately: EXP by the exponential mechanism, BRR and L-SRR by rank."""
