"""Generates snapshots in all forms: runs short random programs on the allocator of allocator.py.
The same number and seed produce the same bytes."""

import json
import os
import pickle
import random

from allocator import Allocator, OutOfMemory
from rules import MIB, SMALL_SIZE, Rules

CPP = [
    ("??", 0, "torch::unwind::unwind()"),
    (
        "CUDACachingAllocator.cpp",
        0,
        "c10::cuda::CUDACachingAllocator::Native::malloc(unsigned long)",
    ),
    ("??", 0, "at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)"),
]


def stacks():
    """Returns the stacks of a training program: of forward, backward (without Python frames) and
    the optimizer. Also contains None, for no stack."""

    def frames(rows):
        return [{"filename": f, "line": n, "name": name} for f, n, name in CPP + rows]

    call = ("/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 1750, "_call_impl")
    run = ("/home/me/project/train.py", 12, "<module>")
    out = [[]]
    for line, op in ((31, "addmm"), (35, "gelu"), (38, "native_layer_norm"), (41, "mul_Tensor")):
        out.append(
            frames(
                [
                    ("??", 0, f"at::_ops::{op}::call(at::Tensor const&)"),
                    ("/home/me/project/model.py", line, "forward"),
                    call,
                    run,
                ]
            )
        )
    for node, op in (("AddmmBackward0", "mm"), ("GeluBackward0", "gelu_backward")):
        out.append(
            frames(
                [
                    ("??", 0, f"at::_ops::{op}::call(at::Tensor const&)"),
                    (
                        "Functions.cpp",
                        0,
                        f"torch::autograd::generated::{node}::apply(std::vector<at::Tensor>&&)",
                    ),
                    ("engine.cpp", 0, "torch::autograd::Engine::thread_main()"),
                ]
            )
        )
    out.append(
        frames(
            [
                ("??", 0, "at::_ops::zeros_like::call(at::Tensor const&)"),
                ("/home/me/project/optimizer.py", 80, "step"),
                run,
            ]
        )
    )
    out.append([{"filename": "model.py", "line": 31, "name": "forward"}])
    return out


class Clock:
    def __init__(self, rng):
        self.rng, self.now = rng, 1_700_000_000_000_000

    def __call__(self):
        self.now += self.rng.choice((1, 1, 2, 3, 17))
        return self.now


def _size(rng):
    kind = rng.random()
    if kind < 0.4:
        return rng.randint(1, MIB)
    if kind < 0.6:
        return rng.randint(MIB + 1, 10 * MIB)
    if kind < 0.7:
        return rng.randint(1, 40) * MIB
    return rng.choice((512, 4 * MIB, 25 * MIB - 4096, 3 * MIB + 1, 2 * MIB, 19 * MIB + 512))


class Program:
    """A program that allocates and frees at random on several devices and streams."""

    def __init__(
        self,
        rng,
        conf="",
        settings=None,
        devices=(0,),
        capacity=1 << 40,
        streams=(0,),
        pools=((0, 0),),
        expandable=False,
    ):
        self.rng, self.clock = rng, Clock(rng)
        self.settings = {"PYTORCH_CUDA_ALLOC_CONF": conf, **(settings or {})}
        rules = Rules(self.settings, expandable)
        self.allocators = {
            d: Allocator(d, rules, capacity, self.clock, expandable) for d in devices
        }
        self.live = {d: [] for d in devices}
        self.pending = {d: [] for d in devices}
        self.streams, self.pools, self.stacks = streams, pools, stacks()
        self.annotations = []

    def allocate(self, device, size=None, frames=None):
        rng = self.rng
        stack = rng.choice(self.stacks) if frames is None else frames
        try:
            got = self.allocators[device].malloc(
                size or _size(rng), rng.choice(self.streams), rng.choice(self.pools), stack
            )
        except OutOfMemory:
            return None
        self.live[device].append(got)
        return got

    def release(self, device, later=False):
        live = self.live[device]
        if live:
            memory, piece = live.pop(self.rng.randrange(len(live)))
            self.allocators[device].free(memory, piece, later)
            if later:
                self.pending[device].append((memory, piece))

    def run(self, steps, most=40, pending=0.0, empties=0.01):
        rng = self.rng
        for _ in range(steps):
            device = rng.choice(list(self.live))
            live, waiting = self.live[device], self.pending[device]
            if waiting and rng.random() < 0.3:
                self.allocators[device].complete(*waiting.pop(0))
            elif rng.random() < empties:
                self.allocators[device].empty_cache()
            elif rng.random() < 0.35 + 0.5 * (1 - len(live) / most):
                self.allocate(device)
            else:
                self.release(device, rng.random() < pending)

    def training(self, steps, leak):
        """Runs named steps with distinct times. If `leak`, each step leaves a block behind."""
        forward, backward, optimizer = self.stacks[1:4], self.stacks[5:7], self.stacks[7]
        for _ in range(4):
            self.allocate(0, 3 * MIB, self.stacks[4])
        for step in range(steps):
            self.mark(f"ProfilerStep#{step}", "START")
            kept = [self.allocate(0, self.rng.randint(1, 6) * MIB, s) for s in forward * 2]
            if leak:
                self.allocate(0, leak, self.stacks[4])
            grads = [self.allocate(0, 2 * MIB + 4096, s) for s in backward]
            if step == 0:
                self.allocate(0, 5 * MIB, optimizer)
            for got in reversed(kept + grads):
                self.live[0].remove(got)
                self.allocators[0].free(*got)
            self.mark(f"ProfilerStep#{step}", "END")

    def mark(self, name, stage):
        self.annotations.append(
            {"name": name, "stage": stage, "device": 0, "time_us": self.clock()}
        )

    def value(self):
        devices = max(self.allocators) + 1
        traces = [
            self.allocators[d].entries if d in self.allocators else [] for d in range(devices)
        ]
        segments = [s for d in sorted(self.allocators) for s in self.allocators[d].segments()]
        return {
            "segments": segments,
            "device_traces": traces,
            "allocator_settings": self.settings,
            "external_annotations": self.annotations,
        }


def _plain(rng):
    p = Program(rng)
    p.run(400)
    return p, p.value()


def _cut_ring(rng):
    p, value = _plain(rng)
    value["device_traces"][0] = value["device_traces"][0][-rng.randint(50, 400) :]
    return p, value


def _pending(rng):
    p = Program(rng, streams=(0, 7))
    p.run(400, pending=0.4)
    return p, p.value()


def _pending_cut(rng):
    p, value = _pending(rng)
    value["device_traces"][0] = value["device_traces"][0][-300:]
    return p, value


def _expandable(rng):
    p = Program(rng, "expandable_segments:True", {"expandable_segments": True}, expandable=True)
    p.run(400, empties=0.03)
    return p, p.value()


def _expandable_cut(rng):
    p, value = _expandable(rng)
    value["device_traces"][0] = value["device_traces"][0][-rng.randint(100, 500) :]
    return p, value


def _expandable_full(rng):
    p = Program(
        rng,
        "expandable_segments:True",
        {"expandable_segments": True},
        expandable=True,
        capacity=160 * MIB,
        devices=(0, 1),
    )
    p.run(500, most=60)
    return p, p.value()


def _full(rng):
    p = Program(rng, capacity=260 * MIB)
    p.run(500, most=80, empties=0)
    return p, p.value()


def _devices(rng):
    p = Program(rng, devices=(0, 1, 3))
    p.run(600, pending=0.1)
    return p, p.value()


def _devices_cut(rng):
    p, value = _devices(rng)
    value["device_traces"] = [t[-rng.randint(50, 250) :] for t in value["device_traces"]]
    return p, value


def _second_device_only(rng):
    p = Program(rng, devices=(1,))
    p.run(200)
    return p, p.value()


def _private_pools(rng):
    p = Program(rng, pools=((0, 0), (0, 1), (0, 2)))
    p.run(400)
    return p, p.value()


def _private_pools_expandable(rng):
    p = Program(
        rng,
        "expandable_segments:True",
        {"expandable_segments": True},
        expandable=True,
        pools=((0, 0), (0, 1)),
        streams=(0, 5),
    )
    p.run(400, empties=0.03)
    return p, p.value()


def _max_split(rng):
    p = Program(rng, "max_split_size_mb:24", {"max_split_size": 24 * MIB})
    p.run(400)
    return p, p.value()


def _rounded(rng):
    p = Program(
        rng,
        "roundup_power2_divisions:4",
        {"roundup_power2_divisions": {str(1 << i): 4 for i in range(16)}},
    )
    p.run(400)
    return p, p.value()


def _no_times(rng):
    p, value = _plain(rng)
    for e in value["device_traces"][0]:
        del e["time_us"]
    del value["allocator_settings"], value["external_annotations"]
    return p, value


def _state(rng):
    p = Program(rng, streams=(0, 7), pools=((0, 0), (0, 1)))
    p.run(300, pending=0.3)
    value = p.value()
    value["device_traces"] = [[]]
    return p, value


def _bare_list(rng):
    p = Program(rng, devices=(1,))
    p.run(300)
    return p, p.value()["segments"]


def _old_state(rng):
    """Returns a snapshot as torch 2.0 writes it: without a trace, and with histories of blocks that
    have no addresses. One history entry is empty."""
    p = Program(rng)
    p.run(300)
    value = p.value()
    for s in value["segments"]:
        for key in ("segment_pool_id", "is_expandable"):
            del s[key]
        for b in s["blocks"]:
            frames = b.pop("frames")
            b["history"] = (
                [{"addr": b.pop("address"), "real_size": b["requested_size"], "frames": frames}]
                if b["state"] != "inactive"
                else []
            )
    total = sum(s["allocated_size"] for s in value["segments"])
    return p, {
        "segments": value["segments"],
        "device_traces": [[{"action": "snapshot", "addr": 0, "size": total, "stream": 0}]],
    }


def _stopped_early(rng):
    """Returns a snapshot that was written after the recording was stopped. Blocks were freed in
    between."""
    p = Program(rng)
    p.run(300, empties=0)
    recorded = len(p.allocators[0].entries)
    for _ in range(15):
        p.release(0)
    value = p.value()
    del p.allocators[0].levels[recorded:]
    del value["device_traces"][0][recorded:]
    return p, value


def _leaks(rng):
    p = Program(rng)
    p.training(8, 2 * MIB + 512 * rng.randint(1, 9))
    return p, p.value()


def _no_leak(rng):
    p = Program(rng)
    p.training(6, 0)
    return p, p.value()


def _cut_file(rng):
    """Returns a snapshot whose file is incomplete: write_all leaves out the end."""
    return _plain(rng)


SHAPES = [
    _plain,
    _cut_ring,
    _pending,
    _pending_cut,
    _expandable,
    _expandable_cut,
    _full,
    _expandable_full,
    _devices,
    _devices_cut,
    _second_device_only,
    _private_pools,
    _private_pools_expandable,
    _max_split,
    _rounded,
    _no_times,
    _state,
    _bare_list,
    _old_state,
    _stopped_early,
    _leaks,
    _no_leak,
    _cut_file,
]


def make(number, seed):
    """Returns (name, generating Program, snapshot)."""
    shape = SHAPES[number % len(SHAPES)]
    program, value = shape(random.Random(f"{seed}/{number}"))
    return f"made_{number:03}{shape.__name__}", program, value


def check_the_model(table, name, number, seed, snapshot):
    """Checks the model itself by comparing it with the allocator that generated the file. The sizes
    of some blocks may differ by up to 1 MiB, namely if a block is older than the trace, is freed in
    it, and has an unsplit tail."""
    _, program, _ = make(number, seed)
    for device in snapshot.devices.values():
        levels = program.allocators[device.number].levels
        levels = levels[len(levels) - len(device.entries) :]
        if not device.entries or device.entries[0][0] == "snapshot":
            levels = []
        unknown = [b for b in device.blocks if not b.exact]
        bad = []
        for k, (allocated, reserved) in enumerate(levels):
            most = device.allocated(k) + SMALL_SIZE * sum(b.lives_at(k) for b in unknown)
            if device.reserved(k) != reserved or not device.allocated(k) <= allocated <= most:
                bad.append((k, device.allocated(k), device.reserved(k), allocated, reserved))
        table.check(name, "the model itself", bad[:1], [])
        table.rows[name, "the model itself"][0] += len(levels)


def write_all(folder, count, seed):
    os.makedirs(folder, exist_ok=True)
    paths = []
    for number in range(count):
        name, _, value = make(number, seed)
        as_json = number % 11 == 10 and not name.endswith("_cut_file")
        path = os.path.join(folder, name + (".json" if as_json else ".pickle"))
        with open(path, "w" if as_json else "wb") as file:
            if as_json:
                json.dump(value, file)
            else:
                data = pickle.dumps(value, protocol=2 + number % 4)
                file.write(data[: len(data) * 7 // 10] if name.endswith("_cut_file") else data)
        paths.append(path)
    return paths
