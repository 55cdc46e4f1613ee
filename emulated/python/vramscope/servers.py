"""Addresses of servers."""

import re

_DATABASE = re.compile(r"(mysql|mariadb|postgres|postgresql|mssql|oracle|cockroachdb)(\+\w+)?://")
# A password may contain "/", "@" and "#". After "host:", digits and "/" begin the path.
_ACCOUNT = re.compile(r"(?<=://)(?:[^/\s]*|[^/:@\s]*:(?!\d+/)[^@?\s]*)@")


def is_database(url):
    """Returns whether the text is the address of a database server, as SQLAlchemy writes it."""
    return isinstance(url, str) and _DATABASE.match(url) is not None


def shown(url):
    """Returns the address without the user's name and password, and without options, which may
    contain them, too."""
    return _ACCOUNT.sub("", url).partition("?")[0]
