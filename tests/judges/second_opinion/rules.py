"""The caching allocator's rules for rounding and splitting, from PyTorch's source
(c10/cuda/CUDACachingAllocator.cpp: round_size, should_split)."""

KIB, MIB = 1 << 10, 1 << 20
MIN_BLOCK = 512
SMALL_SIZE = MIB  # allocations up to this size use the small pool
SMALL_SEGMENT = 2 * MIB
NO_LIMIT = 1 << 63


def _settings_of(text):
    """Returns the settings of PYTORCH_CUDA_ALLOC_CONF as {key: text}. Keeps lists in brackets as
    one text."""
    out, depth, item = {}, 0, ""
    for c in text + ",":
        depth += (c == "[") - (c == "]")
        if c == "," and depth == 0:
            key, _, value = item.partition(":")
            if key.strip():
                out[key.strip()] = value.strip()
            item = ""
        else:
            item += c
    return out


class Rules:
    def __init__(self, settings, expandable):
        settings = settings if isinstance(settings, dict) else {}
        said = _settings_of(str(settings.get("PYTORCH_CUDA_ALLOC_CONF", "") or ""))
        self.expandable = (
            bool(settings.get("expandable_segments", False))
            or expandable
            or said.get("expandable_segments", "") == "True"
        )
        most = settings.get("max_split_size", -1)
        if not isinstance(most, int) or most <= 0:
            most = int(said.get("max_split_size_mb", "0") or 0) * MIB
        self.max_split = most if most > 0 else NO_LIMIT
        self.divisions = {}
        table = settings.get("roundup_power2_divisions")
        if isinstance(table, dict):
            self.divisions = {int(k) * MIB: int(v) for k, v in table.items() if int(v) > 1}
        text = said.get("roundup_power2_divisions", "")
        if not self.divisions and text.isdigit() and int(text) > 1:
            self.divisions = {MIB << i: int(text) for i in range(16)}

    def rounded(self, asked):
        if asked <= MIN_BLOCK:
            return MIN_BLOCK
        if self.divisions:
            power = 1 << (asked.bit_length() - 1)
            parts = self.divisions.get(min(max(power, MIB), MIB << 15), 0)
            if parts > 1 and asked > MIN_BLOCK * parts:
                step = power // (1 << (parts.bit_length() - 1))
                return -(-asked // step) * step
        return -(-asked // MIN_BLOCK) * MIN_BLOCK

    def splits(self, size, rest, small):
        if small or self.expandable:
            return rest >= MIN_BLOCK
        return size < self.max_split and rest > SMALL_SIZE

    def may_hide_a_tail(self, size, small):
        """Returns whether a block of that size may include a remainder that the allocator did not
        split off."""
        return not small and not self.expandable
