"""Uses PyTorch's public hooks to record what the program does: calls of modules, backward passes,
optimizer steps, gradients set to zero, data loading, named ranges, and the tensors that autograd
saves. Each writes a mark to the recorder.

No hook allocates on the GPU, and none keeps a tensor longer than PyTorch would: a program's history
is the same with and without them (tests/emulated). Garbage collections affect when tensors are
freed, so a mark creates no object that the collector counts."""

import functools
import gc
import itertools
import threading
import warnings
import weakref

from vramscope import gradients, host, imports, known, recorder, saved_tensors, updates
from vramscope.process import enough

# Categories of profiler/trace/types.h.
PARAMETER, BUFFER, OPTIMIZER_STATE, INPUT, COMMUNICATION = 1, 2, 4, 6, 10


class Calls(threading.local):
    """The modules whose calls this thread is in, the outermost module first."""

    def __init__(self):
        self.modules = []
        # the kind of code that the thread ran before the outermost module was called
        self.ran = host.ENGINE


class Hooks:
    def __init__(self, process):
        self.process = process
        self.recorder = process.recorder
        self.torch = process.torch
        self.calls = Calls()
        self.roots = {}  # id of an outermost called module: weak reference
        self.module_names = {}  # id of a module: number of its name
        self.backward_depth = 0
        self.optimizer_depth = 0
        self.stepped = False  # an optimizer has stepped, and no new step has begun since
        self.first_step = True  # no optimizer in this process has made a step yet
        self.steps = 0
        self.model_trains = False
        self.described = weakref.WeakSet()
        self.loss = process.torch.nn.modules.loss._Loss
        compiler = getattr(process.torch, "compiler", None)
        self.compiling = getattr(compiler, "is_compiling", None) or (lambda: False)
        self.tracing = known.traces(process.torch)
        self.applying = False
        self.plain = frozenset((process.torch.Tensor, process.torch.nn.Parameter))
        self.saved = saved_tensors.SavedTensors(self)
        self.updates = updates.Updates(self)
        self.missing_gradients = gradients.MissingGradients(self.recorder)
        self.recorder.on_begin.append(self.saved.begin)

    def again(self):
        """Called when another recording begins in this process. Restarts the counts of names and
        steps at 0."""
        self.roots.clear()
        self.module_names.clear()
        self.described.clear()
        self.model_trains = False
        self.calls.modules.clear()
        self.stepped, self.steps, self.first_step = False, 0, True
        self.updates.left = None
        self.missing_gradients = gradients.MissingGradients(self.recorder)

    # --- steps ---

    def something_begins(self):
        """Called when the program fetches a batch, calls a model or begins a backward pass. If an
        optimizer has stepped since the last call, a new step begins."""
        if self.optimizer_depth or self.backward_depth:
            return
        self.by_hand()
        if not self.stepped:
            return
        self.stepped = False
        self.steps += 1
        if self.process.settings.steps and self.updates.enough(self.process.settings.steps):
            self.stepped = True  # if the program catches the exception, the next call raises again
            self.process.ends("enough")
            # The command line ends a program that then waits forever (profiler/program/idle.h).
            if self.process.mine():
                self.process.write()
            raise enough()

    def by_hand(self, cleared=False):
        """Ends the step if the program updated weights itself, without an optimizer. Writes the
        same marks as for an optimizer's step."""
        left = self.updates.over(cleared)
        if left is None:
            return
        if not self.roots:  # nothing was recorded since the backward pass
            self.recorder.native.mark_at("O", *left)
            self.recorder.native.mark_at("o", *left)
        else:
            self.recorder.mark("O")
            self.recorder.mark("o")
        if self.steps < 2:
            self.tag_what_is_kept()
        self.step_ends()

    def step_ends(self):
        self.recorder.stepped()
        self.stepped = True
        self.recorder.flush_now_and_then(recorder.FLUSH_STEP_SECONDS)
        self.process.stepped(self.steps + 1)

    # --- modules ---

    def module_begins(self, module, args):
        if self.compiling() or not self.recorder.recording:
            return
        modules = self.calls.modules
        if not modules:
            self.calls.ran = self.process.host.runs(host.PYTHON)
        self.process.host.module_called()
        if not modules and not self.backward_depth:
            if isinstance(module, self.loss):
                modules.append(module)
                self.recorder.native.enter(-1)
                return
            self.root_begins(module, args)
        name = self.module_names.get(id(module))
        if name is None:
            name = self.recorder.name(type(module).__name__)
        modules.append(module)
        self.recorder.native.enter(name)

    def module_ends(self, module, args, output):
        modules = self.calls.modules
        if self.compiling() or module not in modules:
            return
        while modules:  # modules whose calls ended with an exception
            last = modules.pop()
            self.recorder.native.leave()
            if last is module:
                break
        if not modules:
            self.process.host.runs(self.calls.ran)
        if not modules and not self.backward_depth and not isinstance(module, self.loss):
            self.recorder.mark("f")
            self.recorder.flush_now_and_then()

    def root_begins(self, module, args):
        self.something_begins()
        root = self.roots.get(id(module))
        if root is None or root() is not module:
            self.roots[id(module)] = weakref.ref(module)
            for name, part in module.named_modules():
                self.module_names[id(part)] = self.recorder.name(name or type(module).__name__)
        trains = self.torch.is_grad_enabled()
        if trains and not self.model_trains and module not in self.described and not self.tracing():
            watched = getattr(self.torch._C, "_is_torch_function_mode_enabled", None)
            if watched is not None and watched():
                # a mode of the program must not see these calls
                with self.torch._C.DisableTorchFunction():
                    self.describe(module)
            else:
                self.describe(module)
        # A module frozen by torch.jit.freeze has no attribute `training`.
        self.recorder.mark(
            "F", self.module_names[id(module)], int(trains), int(getattr(module, "training", False))
        )
        self.recorder.native.tag_module(module, False)
        self.recorder.native.tag(INPUT, args)

    def describe(self, module):
        """Reports the program's model: the first called module that trains or, if none trains, the
        first called module with parameters."""
        # the module in DistributedDataParallel and similar
        inner = getattr(module, "module", module)
        if any(map(self.torch.nn.parameter.is_lazy, module.parameters())):
            return  # parameters of LazyLinear, which get a shape in the first call
        count = trainable = size = 0
        for parameter in module.parameters():
            count += parameter.numel()
            size += parameter.numel() * parameter.element_size()
            if parameter.requires_grad:
                trainable += parameter.numel()
        self.described.add(module)
        before = self.process.about.get("model")
        if before is not None and (trainable > 0, count > 0) <= (
            before["trainable"] > 0,
            before["parameters"] > 0,
        ):
            return
        self.model_trains = trainable > 0
        self.process.about["model"] = {
            "name": type(inner).__name__,
            "parameters": count,
            "trainable": trainable,
            "bytes": size,
        }
        self.process.write()

    def applied(self, apply):
        """Wraps Module._apply, which moves or converts a module, so that its new tensors are tagged
        before they are used."""

        @functools.wraps(apply)
        def wrapper(module, *args, **kwargs):
            if not self.recorder.recording and not self.process.mine() or self.applying:
                return apply(module, *args, **kwargs)
            self.applying = True
            try:
                return apply(module, *args, **kwargs)
            finally:
                self.applying = False
                if self.recorder.recording:
                    self.recorder.native.tag_module(module, False)

        return wrapper

    def registered(self, category, module, name, tensor):
        if self.recorder.recording and tensor is not None and not self.compiling():
            self.recorder.native.tag(category, tensor)

    # --- categories ---

    def tag_gradients(self):
        for reference in list(self.roots.values()):
            module = reference()
            if module is not None:
                self.recorder.native.tag_module(module, True)

    def tag_optimizer(self, optimizer):
        parameters = [
            parameter for group in optimizer.param_groups for parameter in group["params"]
        ]
        self.recorder.native.tag(PARAMETER, parameters)
        self.recorder.native.tag_gradients(parameters)

    def tag_state(self, optimizer):
        self.recorder.native.tag(OPTIMIZER_STATE, list(optimizer.state.values()))

    def tag_what_is_kept(self):
        """Marks the tensors that the program keeps outside of modules. Only tensors of unknown
        category are affected."""
        address = self.recorder.address
        objects = gc.get_objects()
        # There are a million objects, so they are filtered without a loop in Python.
        for value in itertools.compress(objects, map(self.plain.__contains__, map(type, objects))):
            if value.is_cuda and address(value):
                self.recorder.native.mark("k", address(value))

    # --- backward, optimizer ---

    def backward(self, run):
        @functools.wraps(run)
        def wrapper(*args, **kwargs):
            if not self.recorder.recording:
                return run(*args, **kwargs)
            # Under a dispatch mode, the pass is only traced, for example by torch.compile. Such a
            # pass is not one of the program's own.
            real = (
                self.backward_depth == 0
                and not self.optimizer_depth
                and not self.torch._C._len_torch_dispatch_stack()
            )
            if real:
                self.something_begins()
                self.updates.backward_begins(
                    args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
                )
            self.backward_depth += 1
            if self.backward_depth == 1:
                self.recorder.mark("B")
            try:
                return run(*args, **kwargs)
            finally:
                self.backward_depth -= 1
                if self.backward_depth == 0:
                    self.tag_gradients()
                    self.recorder.mark("b")
                    if real:
                        self.updates.backward_ends()

        return wrapper

    def optimizer_step(self, step):
        @functools.wraps(step)
        def wrapper(*args, **kwargs):
            if not self.recorder.recording:
                return step(*args, **kwargs)
            optimizer = args[0]
            if (args[1] if len(args) > 1 else kwargs.get("closure")) is not None:
                # the optimizer runs forward and backward within its step, as L-BFGS does
                self.something_begins()
            elif self.optimizer_depth == 0 and self.backward_depth == 0:
                self.missing_gradients.step_begins(optimizer)
            if self.optimizer_depth == 0:
                self.recorder.mark("O")
                self.tag_optimizer(optimizer)
                self.process.host.optimizer_step(optimizer, self.first_step)
                self.first_step = False
            self.optimizer_depth += 1
            ran = self.process.host.runs(host.OPTIMIZER)
            try:
                return step(*args, **kwargs)
            finally:
                self.process.host.runs(ran)
                self.optimizer_depth -= 1
                self.updates.stepped(optimizer)
                # also of nested optimizers: ZeroRedundancyOptimizer has no state itself
                self.tag_state(optimizer)
                if self.optimizer_depth == 0:
                    # in backward, this would run for every parameter
                    if self.steps < 2 and not self.backward_depth:
                        self.tag_what_is_kept()
                    self.recorder.mark("o")
                    self.step_ends()

        return wrapper

    def clearing(self, zero_grad):
        @functools.wraps(zero_grad)
        def wrapper(*args, **kwargs):
            if self.recorder.recording and not self.backward_depth:
                self.by_hand(cleared=True)
            return zero_grad(*args, **kwargs)

        return wrapper

    def cleared(self, zero_grad):
        """Wraps zero_grad() of optimizers."""

        @functools.wraps(zero_grad)
        def wrapper(*args, **kwargs):
            if self.recorder.recording:
                self.process.host.gradients_cleared(args[0])
            return zero_grad(*args, **kwargs)

        return wrapper

    def scope(self, function, begin, end, *arguments, new_step=False):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            if not self.recorder.recording:
                return function(*args, **kwargs)
            if new_step:
                self.something_begins()
            self.recorder.mark(begin, *arguments)
            try:
                return function(*args, **kwargs)
            finally:
                self.recorder.mark(end)

        return wrapper


def install(process):
    hooks = Hooks(process)
    for what, install_one in (
        ("calls of modules", _modules),
        ("backward passes", _backward),
        ("optimizer steps", _optimizers),
        ("loading of data and state dicts", _loading),
        ("communication between ranks", _communication),
        ("named ranges", _ranges),
    ):
        process.part("not recorded: " + what, install_one, process.torch, hooks)
    return hooks


def _modules(torch, hooks):
    module = torch.nn.modules.module
    # torch.compile warns about global hooks, but the program did not install these hooks.
    warnings.filterwarnings(
        "ignore", message=r"Using `torch\.compile\(module\)` when there are global hooks"
    )
    module.register_module_forward_pre_hook(hooks.module_begins)
    try:
        module.register_module_forward_hook(hooks.module_ends, always_call=True)
    except TypeError:  # torch 2.0
        module.register_module_forward_hook(hooks.module_ends)
    # Tags a model's tensors as soon as they are created on the GPU, because the model may not fit
    # into the memory.
    for kind, category in (("parameter", PARAMETER), ("buffer", BUFFER)):
        register = getattr(module, "register_module_%s_registration_hook" % kind, None)
        if register is not None:
            register(functools.partial(hooks.registered, category))
    torch.nn.Module._apply = hooks.applied(torch.nn.Module._apply)


def _backward(torch, hooks):
    torch.autograd.backward = hooks.backward(torch.autograd.backward)
    torch.autograd.grad = hooks.backward(torch.autograd.grad)
    variable = torch.autograd.Variable
    run = variable._execution_engine.run_backward
    watched = hooks.backward(run)

    class Engine(type(variable._execution_engine)):
        """Records backward passes that call the engine directly, as Megatron's schedules do."""

        def run_backward(self, *args, **kwargs):
            return (run if hooks.backward_depth else watched)(*args, **kwargs)

    variable._execution_engine = Engine()


def _optimizers(torch, hooks):
    optimizer = torch.optim.Optimizer
    profile_hook_step = optimizer.profile_hook_step

    @functools.wraps(profile_hook_step)
    def hooked(step):
        wrapper = hooks.optimizer_step(profile_hook_step(step))
        wrapper.hooked = True
        return wrapper

    optimizer.profile_hook_step = staticmethod(hooked)
    optimizer.add_param_group = hooks.updates.made(optimizer.add_param_group)
    optimizer.zero_grad = hooks.scope(hooks.cleared(optimizer.zero_grad), "Z", "z")
    torch.nn.Module.zero_grad = hooks.clearing(hooks.scope(torch.nn.Module.zero_grad, "Z", "z"))


def _loading(torch, hooks):
    for owner in (torch.nn.Module, torch.optim.Optimizer):
        owner.load_state_dict = hooks.scope(owner.load_state_dict, "L", "l")
    imports.after(
        hooks.process,
        "transformers.generation.utils",
        lambda utils: setattr(
            utils.GenerationMixin, "generate", hooks.scope(utils.GenerationMixin.generate, "P", "p")
        ),
    )
    from torch.utils.data import dataloader

    iterator = dataloader._BaseDataLoaderIter
    iterator.__next__ = hooks.scope(iterator.__next__, "D", "d", new_step=True)
    for name in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
        one = getattr(dataloader, name, None)
        if one is not None and "__next__" in one.__dict__:
            one.__next__ = hooks.scope(one.__next__, "D", "d", new_step=True)


def _ranges(torch, hooks):
    recorder = hooks.recorder
    ranges = torch.autograd.profiler.record_function
    enter, leave = ranges.__enter__, ranges.__exit__

    @functools.wraps(enter)
    def __enter__(self):
        result = enter(self)
        # Leaves out the ranges that PyTorch opens around every optimizer step.
        if recorder.recording and not self.name.startswith("Optimizer."):
            recorder.mark("A", recorder.name(str(self.name)))
        return result

    @functools.wraps(leave)
    def __exit__(self, *args):
        if recorder.recording and not self.name.startswith("Optimizer."):
            recorder.mark("a")
        return leave(self, *args)

    ranges.__enter__, ranges.__exit__ = __enter__, __exit__


def checkpoints(process, hooks):
    """Wraps torch.save and torch.load. Call this after all wrappers that redirect saving are
    installed."""
    torch = process.torch
    torch.save = torch.serialization.save = hooks.scope(torch.save, "W", "w")
    torch.load = torch.serialization.load = hooks.scope(torch.load, "L", "l")


def _communication(torch, hooks):
    """Tags buffers that ranks exchange: DistributedDataParallel's buckets, tensors that FSDP
    gathers."""

    def made(owner, name):
        if hasattr(owner, name):
            setattr(owner, name, hooks.scope(getattr(owner, name), "C", "c", COMMUNICATION))

    if not torch.distributed.is_available():
        return
    made(torch.nn.parallel.DistributedDataParallel, "_ddp_init_helper")
    made(torch.distributed.Reducer, "_rebuild_buckets")
    imports.after(
        hooks.process,
        "torch.distributed.fsdp._fully_shard._fsdp_param_group",
        lambda module: [made(module, name) for name in ("foreach_all_gather", "foreach_reduce")],
    )
