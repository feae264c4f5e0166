"""What fast paths share: rows of words, square tables, and loops that numba compiles.

No generator lives here: every trajectory brings its own row of random words, and what a row
lacks is reported (`used` beyond its width) instead of made up. Randomised response and the
square wave turn words into values exactly as the reference does. The exponential law is drawn
by rejection sampling: propose a location of its domain uniformly, accept it with probability
weight / ceiling. It is the same law, without touching every location, from a random number of
words, so only a source that can be asked again serves it.

Small sets come with square tables (`Tables`), large ones with an index (large/). Importing this
package imports nothing; loops are imported by whoever has many trajectories to perturb.
"""
