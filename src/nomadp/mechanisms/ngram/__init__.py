"""NGRAM: overlapping draws of regions and of pairs of regions, which are then reconciled."""
