"""Common parts of the fast paths: rows of words, square tables, and loops that numba compiles.

There is no random generator here. Every trajectory has its own row of random words, and a row
that is too short is reported (`used` beyond its width), never filled up. Randomised response
and the square wave turn words into values exactly as the reference does. The exponential law
uses rejection sampling: propose a location of its domain uniformly, and accept it with
probability weight / ceiling. That is the same law, without visiting every location. It takes a
random number of words, so it needs a random source that can repeat and extend its rows.

Small sets have square tables (`Tables`), large ones an index (large/). Importing this package
imports nothing; the loops are imported when many trajectories are perturbed.
"""
