"""Numba loops: the same laws as the reference programs, many trajectories at once.

No generator lives here: every trajectory brings its own row of random words, and what a row
lacks is reported (`used` beyond its width) instead of made up. Randomised response and the
square wave turn words into values exactly as the reference does. The exponential law is drawn
by proposing a location of its domain uniformly and accepting it with probability
weight / ceiling: the same law, without touching every location.

Small sets come with square tables (`Tables`). Large ones come as cells and a tree of balls
(`Balls`): what a domain may hold is narrowed to some cells by bits, and to nodes of the tree
where these do not suffice, so that a report costs nearly the same in a set of any size.

Only this package knows numba. Without it numpy takes the same steps for all trajectories at
once (plain/), with the same reports. Importing this package imports nothing; its loops are
imported by whoever has many trajectories to perturb, when they are there.
"""
