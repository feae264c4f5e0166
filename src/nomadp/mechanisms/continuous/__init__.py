"""CGM and TraCS, drawn in floats: to compare with, never to use."""
