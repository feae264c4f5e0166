"""The index for sets above 4,096 locations, which have no square tables.

It serves the fast paths of TP, ATP, BRR and L-SRR: a set is cut into cells and a ball tree, so
that a domain is found by bitsets of cells, one of the nearest locations by walking balls, and
both without looking at every location. All of it is public and linear in the set's size. The
laws are the reference programs'; only how words are spent on them differs.
"""
