"""Pivot sampling: TP and ATP in a form that is private, and the form that was published."""
