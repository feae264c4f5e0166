"""The index for sets above 4,096 locations, which have no square tables.

It serves the fast paths of TP, ATP, BRR and L-SRR: a set is cut into cells and a ball tree. A
domain is drawn from by rejection sampling in a bitset of cells, which are scanned where that
fails; the farthest location and one of the nearest are found by walking balls. All of it is
public and linear in the set's size. The laws are the reference programs'; only how words are
spent on them differs.
"""
