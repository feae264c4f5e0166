"""CGM and TraCS, drawn with floats: for comparison in experiments only."""
