"""Numba loops: the same laws as the reference programs, many trajectories at once.

No generator lives here: every trajectory brings its own row of random words, and what a row
lacks is reported (`used` beyond its width) instead of made up. Randomised response and the
square wave turn words into values exactly as the reference does. The exponential law is drawn
by proposing a location of its domain uniformly and accepting it with probability
weight / ceiling: the same law, without touching every location.

Small sets come with square tables (`Tables`). Large ones come as a tree of balls (`Balls`):
what a domain may hold is narrowed to a few of its nodes, so that a report costs nearly the same
in a set of any size.

Only this package knows numba. Without it EXP, NGRAM, and TP and ATP on small sets, run in numpy
(plain/), with the same reports. What walks a tree of balls runs uncompiled, line by line: the
same reports too, a few hundred times slower. Importing this package imports nothing; its loops
are imported by whoever has many trajectories to perturb, when they are there.
"""
