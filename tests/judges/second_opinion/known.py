"""Known differences that are not fixed yet: (file, figure, reason). File and figure are fnmatch
patterns. The check fails if a known difference no longer occurs, so that its entry is removed."""

DIFFERENCES = []
