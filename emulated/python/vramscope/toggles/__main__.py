"""Prints what toggles there are, as JSON: build and command line read it."""
import json
import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    from vramscope import toggles

    print(json.dumps({"toggles": [kind.declaration() for kind in toggles.declared().values()]}, indent=1))
