"""Files in and out: tables, points, reports, in every format we read or write."""
