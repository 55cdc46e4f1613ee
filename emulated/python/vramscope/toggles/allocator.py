"""Toggles for settings of PyTorch's caching allocator in the environment, and for releasing its
cache."""

import linecache
import os

from vramscope.toggles.declaration import NOTHING, Toggle, toggle

NAMES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


def variable():
    """Returns the name of the environment variable with the allocator's settings, and the
    variable's value."""
    name = next((name for name in NAMES if os.environ.get(name)), NAMES[0])
    return name, [part.strip() for part in os.environ.get(name, "").split(",") if part.strip()]


class _Setting(Toggle):
    group, changes, applies_to = "allocator", NOTHING, "every program"
    key = ""
    had = False  # the environment had this setting before the toggle set it

    @classmethod
    def setting(cls, value):
        return "%s:%s" % (cls.key, "True" if value is None else value)

    @classmethod
    def added(cls, value, parts):
        """Returns the variable's value with this setting."""
        others = [part for part in parts if not part.startswith(cls.key + ":")]
        return ",".join([*others, cls.setting(value)])

    @classmethod
    def before_torch(cls, value):
        value = cls.default if value is None else value
        name, parts = variable()
        cls.had = cls.setting(value) in parts
        if not cls.had:
            os.environ[name] = cls.added(value, parts)

    def install(self):
        name, parts = variable()
        if self.had if self.on else self.setting(self.value) in parts:
            self.already("%s already has this setting" % name)
        else:
            value = os.environ[name] if self.on else self.added(self.value, parts)
            self.reach("%s=%s" % (name, value), place="environment")

    def finish(self):
        """Checks that the allocator reports the setting, if it reports settings at all."""
        recorder = self.session.process.recorder
        if not self.on or recorder is None or not recorder.recording:
            return
        settings = recorder.snapshot().get("allocator_settings") or {}
        have = settings.get(self.snapshots)
        if have is not None and not self.same(have):
            self.override(
                "the program itself sets %s=%s, and the allocator has this value at the end"
                % (self.key, have)
            )


@toggle
class ExpandableSegments(_Setting):
    name, label, key, snapshots = (
        "expandable-segments",
        "Expandable segments",
        "expandable_segments",
        "expandable_segments",
    )
    explains = (
        "Segments can grow, so a free block that is too small for an allocation can be "
        "extended instead of staying unused"
    )
    reduces = {"cached": 0.8}

    def same(self, have):
        return bool(have)


@toggle
class MaxSplitSize(_Setting):
    name, label, key, snapshots = (
        "max-split-size",
        "No splitting of large blocks",
        "max_split_size_mb",
        "max_split_size",
    )
    explains = (
        "Blocks above this size in MiB are not split, so that later large allocations "
        "can reuse them"
    )
    values, default, slow, tries = "MIB", "128", True, ("128",)
    reduces = {"cached": 0.5}

    def same(self, have):
        return int(have) == int(self.value) << 20


@toggle
class GcThreshold(_Setting):
    name, label, key, snapshots = (
        "gc-threshold",
        "Early release of cached blocks",
        "garbage_collection_threshold",
        "garbage_collection_threshold",
    )
    explains = (
        "If more than this fraction of the memory is used, the allocator releases "
        "blocks that have been unused for a long time"
    )
    values, default, slow, tries = "FRACTION", "0.8", True, ("0.8",)
    reduces = {"cached": 0.5}

    def same(self, have):
        return abs(float(have) - float(self.value)) < 1e-6


@toggle
class EmptyCache(Toggle):
    name, label, group, changes = (
        "empty-cache",
        "Emptying the cache after steps",
        "allocator",
        NOTHING,
    )
    explains = (
        "Every N steps, cached memory is released to the driver. Allocating it again "
        "makes the steps slower"
    )
    values, default, slow, tries = "N", "1", True, ("1",)
    reduces = {"cached": 0.5}
    set_in = None  # the last TrainingArguments that the toggle has changed
    applies_to = "TrainingArguments, and programs with at least N optimizer steps"

    def install(self):
        self.changes_at = {}  # {(where an optimizer steps, where it is created): (line, its place)}

    def training_arguments(self, arguments):
        if not hasattr(arguments, "torch_empty_cache_steps"):
            self.refuse(
                "the installed transformers version has no "
                "TrainingArguments.torch_empty_cache_steps"
            )
        elif arguments.torch_empty_cache_steps == int(self.value):
            self.already("torch_empty_cache_steps is already %s" % self.value)
        elif self.reach(
            self.session.arguments_text(arguments, {"torch_empty_cache_steps": int(self.value)})
        ):
            self.set_in = arguments
            arguments.torch_empty_cache_steps = int(self.value)

    def trainer_begins(self, trainer, arguments):
        if self.set_in is arguments and arguments.torch_empty_cache_steps != int(self.value):
            self.override(
                "the program sets torch_empty_cache_steps=%r afterwards"
                % arguments.torch_empty_cache_steps
            )

    def stepped(self, optimizer):
        if self.session.library == "Trainer":
            return
        if (self.session.steps + 1) % int(self.value):
            return
        steps, created = self.session.place(), self.session.place_of(optimizer)
        if (steps, created) not in self.changes_at:
            self.changes_at[steps, created] = self.change(steps, created)
        line, place = self.changes_at[steps, created]
        if self.reach(line, place=place):
            self.torch.cuda.empty_cache()

    def change(self, place, created):
        """Returns the line to add, and its place. The optimizer is created at `created`, or None,
        and steps at `place`."""
        path, _, number = place.rpartition(":")
        if created and number and ".step(" not in linecache.getline(path, int(number)):
            # The steps are in a library, so the program has no line after them.
            return (
                "optimizer.register_step_post_hook(lambda *_: torch.cuda.empty_cache())",
                created,
            )
        return "torch.cuda.empty_cache()  # after %s" % (
            "optimizer.step()" if self.value == "1" else "every %s optimizer steps" % self.value
        ), place

    def absent(self):
        return "the program makes fewer than N optimizer steps"
