"""Prints the declarations of all toggles as JSON, for the build and the command line."""

import json
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    from vramscope import toggles

    print(
        json.dumps(
            {"toggles": [kind.declaration() for kind in toggles.declared().values()]}, indent=1
        )
    )
