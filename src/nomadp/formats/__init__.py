"""Readers and writers of files: tables, points, zones and codebooks, in all formats."""
