"""Known differences that are not fixed yet: (file, figure, reason), the first two as fnmatch
patterns. The check fails if one of them no longer occurs, so that outdated entries are removed."""

DIFFERENCES = []
