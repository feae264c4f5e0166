"""The kernels' reports without numba: numpy over all trajectories at once.

Where numba is missing its loops would run line by line, trajectory by trajectory. Here every
step is taken by all trajectories together instead, each with its own row of words and its own
count of words taken, so that a report does not depend on who else is there. The same words
give the same reports and the same counts as the kernels, up to the last bit of an exponential
or an arctangent: that decides otherwise once in some 10^12 draws, and changes no law.

A missing word counts as zero, and the count of words taken goes on: whoever asked then knows
that a row was too short (see bulk.py), and nothing waits for words that never come.
"""
