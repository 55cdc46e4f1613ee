"""Texts of changes that the user makes: Python literals, and arguments of the command line."""

import json


def on_command_line(*words):
    """Returns the change that adds these arguments to the program's command line."""
    return "%s  # on the command line" % " ".join(words)


def literal(value):
    """Returns a Python literal with double quotes."""
    text = json.dumps(value)
    return (
        text
        if isinstance(value, str)
        else str(value)
        if not isinstance(value, (dict, list))
        else text.replace("true", "True").replace("false", "False")
    )
