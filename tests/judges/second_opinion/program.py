"""Runs vramscope as users do."""

import json
import subprocess


class Failed(Exception):
    pass


class Program:
    def __init__(self, path, limit=120):
        self.path, self.limit = path, limit
        self.runs = 0

    def run(self, *arguments, allowed=(0,)):
        self.runs += 1
        words = [str(a) for a in arguments]
        try:
            done = subprocess.run([self.path, *words], capture_output=True, timeout=self.limit)
        except subprocess.TimeoutExpired:
            raise Failed(f"`{' '.join(words)}` took more than {self.limit} s")
        if done.returncode not in allowed:
            raise Failed(
                f"`{' '.join(words)}` ended with {done.returncode}: "
                f"{done.stderr.decode(errors='replace').strip()[-300:]}"
            )
        return done

    def json(self, *arguments, allowed=(0,)):
        return json.loads(self.run(*arguments, "--json", allowed=allowed).stdout)
