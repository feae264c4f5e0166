"""NGRAM: overlapping draws of regions and of steps between them, reconciled."""
