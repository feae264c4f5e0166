"""The index for sets above 4,096 locations, which have no square tables.

It serves the fast paths of TP, ATP, BRR and L-SRR. A set is divided into cells and a ball tree.
Rejection sampling draws from a domain, within a bitset of cells; if it fails, the cells are
scanned. The ball tree finds the farthest location, and one of the nearest. The index is public,
and its size is linear in that of the set. The laws are those of the reference programs; they
only use random words differently.
"""
