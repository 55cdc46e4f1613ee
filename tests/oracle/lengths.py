"""Draws samples from a file of "length,count" lines as vramscope does, and forms padded, grouped or
packed batches."""

import bisect
import itertools

GROUPED = 50  # number of batches whose samples are sorted together


def mixed(number):
    word = (1 << 64) - 1
    number = (number + 0x9E3779B97F4A7C15) & word
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & word
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & word
    return number ^ (number >> 31)


def shapes(settings, rows):
    """Yields the numbers of rows and tokens of each micro-batch, in order."""
    limit, seed, way = int(settings["seq"]), int(settings["seed"]), settings["samples.batches"]
    with open(settings["samples.file"], encoding="utf-8") as file:
        lines = [line.split(",") for line in file.read().split() if line[0].isdigit()]
    counts = sorted((int(length), int(count)) for length, count in lines)
    lengths, ends = (
        [length for length, _ in counts],
        list(itertools.accumulate(count for _, count in counts)),
    )

    def drawn(first, count):
        places = (
            bisect.bisect_right(ends, mixed((mixed(seed) + i) & ((1 << 64) - 1)) % ends[-1])
            for i in range(first * rows, (first + count) * rows)
        )
        return [min(limit, lengths[place]) for place in places]

    for number in itertools.count():
        samples = drawn(number, 1)
        if way == "grouped":
            group = sorted(drawn(number // GROUPED * GROUPED, GROUPED), reverse=True)
            samples = group[number % GROUPED * rows :][:rows]
        yield (1, sum(samples)) if way == "packed" else (rows, max(samples))
