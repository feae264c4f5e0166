"""Location sets and journeys to try things on: check-ins, campus walks, a made-up city."""
