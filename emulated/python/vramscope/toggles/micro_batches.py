"""The toggle micro-batch (batches.py) for accelerate's Accelerator and Lightning's Trainer. It
changes two objects of the program: the DataLoader, and the object that accumulates gradients. Both
exist before it is known which DataLoader trains, so the change is made just before the first batch
is loaded."""

import functools
import os
import weakref

from vramscope import imports
from vramscope.toggles.training_loops import Loop, is_generator
from vramscope.toggles.session import variables_of

_FIT_LOOPS = [name + ".loops.fit_loop" for name in ("lightning.pytorch", "pytorch_lightning")]


class _Created:
    """An object that the program creates. `name` is its class, or "" if a library creates it."""

    def __init__(self, place, name):
        self.place, self.name = place, name
        self.iterated = False  # a DataLoader has been iterated
        self.measured = False  # len() of a DataLoader was called before the training
        self.batch = None  # the program's own batch size of a DataLoader that trains


def _sampler(loader):
    """Returns the batch sampler by which the DataLoader that the program has created is found.
    accelerate replaces the DataLoader, but keeps the sampler."""
    sampler = getattr(loader, "batch_sampler", None)
    while type(sampler).__name__ == "BatchSamplerShard":  # accelerate's, for several processes
        sampler = sampler.batch_sampler
    return sampler


def _set_batch(loader, batch):
    sampler = loader.batch_sampler
    while sampler is not None:
        sampler.batch_size = batch
        sampler = getattr(sampler, "batch_sampler", None)
    if loader.batch_size is not None:
        # A DataLoader refuses to set this attribute.
        loader.__dict__["batch_size"] = batch


class MicroBatches:
    """The part of MicroBatch for these libraries."""

    def install(self):
        self.loaders = weakref.WeakKeyDictionary()  # {batch sampler: _Created}
        self.streams = weakref.WeakKeyDictionary()  # {IterableDataset: _Created}
        self.accelerators = []  # [(weak reference, _Created)]
        self.accumulations = 0  # calls of Accelerator.accumulate()
        self.divided = None  # (Accelerator, its number of micro-batches with the toggle)
        self.first = None  # (the batch size of the first DataLoader that trains, its loop)
        self.steps = 0  # the program's own number of micro-batches
        self.measured = False  # len() of a divided DataLoader was called before the training
        self.closed = False  # the Accelerator's loops are not changed any more
        self.trainers = weakref.WeakKeyDictionary()  # {Lightning's Trainer: _Created}
        self.fitted = weakref.WeakKeyDictionary()  # {Lightning's Trainer: (batch, own settings)}
        process = self.session.process
        imports.after(process, "torch.utils.data.dataloader", self.watch_loaders)
        imports.after(process, "accelerate.accelerator", self.watch_accelerator)
        for name in _FIT_LOOPS:
            imports.after(process, name, self.watch_fit)

    def created(self, made):
        """Returns the place in the program that has called the constructor of `made`."""
        called = self.session.users_frames()[1]
        # a constructor of a class derived from it, or Lightning's wrapper of the constructor
        names = called.f_code.co_varnames if called is not None else ()
        direct = called is None or bool(names) and variables_of(called).get(names[0]) is made
        return _Created(self.session.place(), type(made).__name__ if direct else "")

    # --- DataLoaders ---

    def watch_loaders(self, module):
        kind = module.DataLoader
        begin, iterate, measure = kind.__init__, kind.__iter__, kind.__len__

        @functools.wraps(begin)
        def __init__(loader, *args, **kwargs):
            begin(loader, *args, **kwargs)
            # Otherwise the program has given it a batch sampler, or it forms no batches.
            if loader.batch_size is not None and loader.batch_sampler is not None:
                made, data = self.created(loader), loader.dataset
                if isinstance(data, module.IterableDataset) and data.__hash__ is not None:
                    # accelerate creates another sampler for a stream.
                    made = made if made.name else self.streams.get(data, made)
                    self.streams[data] = made
                self.loaders[loader.batch_sampler] = made

        @functools.wraps(iterate)
        def __iter__(loader):
            found = self.of_loader(loader)
            if self.accelerators and not self.closed and not self.session.inside:
                self.accelerated(loader, found)
            if found is not None:
                found.iterated = True
            return iterate(loader)

        @functools.wraps(measure)
        def __len__(loader):
            found = self.of_loader(loader)
            if found is not None:
                found.measured = found.measured or found.batch is None
            return measure(loader)

        kind.__init__, kind.__iter__, kind.__len__ = __init__, __iter__, __len__

    def of_loader(self, loader):
        """Returns the _Created of the DataLoader, or None if the program forms its batches
        itself."""
        sampler = _sampler(loader)
        plain = self.torch.utils.data.BatchSampler
        return self.loaders.get(sampler) if type(sampler) is plain else None

    def reaches(self, found, batch):
        line = "%s(..., batch_size=%d)" % (found.name, batch)
        return self.reach(line, place=found.place)

    def unsuitable_loader(self, loader, found):
        """Returns why the batches of the DataLoader cannot be divided, or ""."""
        why = ""
        if getattr(loader, "batch_sampler", None) is None:
            why = "the training DataLoader forms no batches (batch_size=None)"
        elif found is None:
            why = "the training DataLoader has a batch sampler of the program"
        elif not found.name:
            why = "a library creates the training DataLoader"
        elif found.iterated and found.batch is None:
            why = "the program iterates the training DataLoader already before the training"
        return why

    # --- accelerate ---

    def watch_accelerator(self, module):
        kind = module.Accelerator
        begin, accumulate = kind.__init__, kind.accumulate

        @functools.wraps(begin)
        def __init__(accelerator, *args, **kwargs):
            begin(accelerator, *args, **kwargs)
            if not self.session.calls.trainer and self.session.trainer is None:
                made = self.created(accelerator)
                made.by_plugin = kwargs.get("gradient_accumulation_plugin") is not None
                self.accelerators.append((weakref.ref(accelerator), made))

        @functools.wraps(accumulate)
        def accumulate_(accelerator, *args, **kwargs):
            self.accumulations += not self.session.inside
            return accumulate(accelerator, *args, **kwargs)

        kind.__init__, kind.accumulate = __init__, accumulate_

    def loop(self):
        """Returns the loop of the program that begins to iterate a DataLoader and trains, or
        None."""
        frame = self.session.users_frames()[0]
        while frame is not None:
            found = Loop.of(frame, variables_of)
            if found is not None or not is_generator(frame):
                return found
            frame = frame.f_back  # the loop that iterates this generator
            while frame is not None and not self.session.is_users(frame):
                frame = frame.f_back
        return None

    def accelerated(self, loader, found):
        """Called before the program iterates the DataLoader."""
        loop = self.loop()
        if loop is None or found is not None and found.batch is not None:
            return
        why = self.unsuitable_accelerator(loop) or self.unsuitable_processes(loader)
        why = why or self.unsuitable_loader(loader, found) or self.unsuitable_loop(loop)
        if why:
            self.close(why)
            return
        accelerator, made = loop.accelerator(), self.accelerators[0][1]
        found.batch = _sampler(loader).batch_size
        if self.first is None:
            self.first = found.batch, loop.key
            self.steps = accelerator.gradient_accumulation_steps
        elif self.first[0] != found.batch:
            self.close("the program trains with DataLoaders of different batch sizes")
            return
        wanted = self.parts(found.batch, self.steps, "batch", "steps")
        if not wanted:
            return
        line = "Accelerator(..., gradient_accumulation_steps=%d)"
        if made.by_plugin:
            line = "GradientAccumulationPlugin(..., num_steps=%d)"
        self.reach(line % wanted["steps"], place=made.place)
        if self.reaches(found, wanted["batch"]):
            _set_batch(loader, wanted["batch"])
            accelerator.gradient_accumulation_steps = wanted["steps"]
            self.divided = weakref.ref(accelerator), wanted["steps"]
            self.measured = self.measured or found.measured

    def close(self, why):
        """Call if a loop trains with Accelerator.accumulate(), but its batches cannot be
        divided."""
        self.closed = True
        if self.divided is not None:
            self.reject(why)
        elif self.first is not None:
            self.withdraw(why)
        else:
            self.refuse(why)

    def unsuitable_accelerator(self, loop):
        """Returns why the number of micro-batches of the program's Accelerator cannot be set, or
        ""."""
        accelerator = loop.accelerator()
        distributed = str(getattr(accelerator, "distributed_type", "")).upper()
        why = ""
        if len(self.accelerators) > 1:
            why = "the program creates several Accelerators"
        elif accelerator is None or self.accelerators[0][0]() is not accelerator:
            why = "it is unknown which Accelerator accumulates the gradients"
        elif not self.accelerators[0][1].name:
            why = "a library creates the Accelerator"
        elif "DEEPSPEED" in distributed or "MEGATRON" in distributed:
            why = "DeepSpeed and Megatron-LM have their own settings of the batch"
        elif os.environ.get("ACCELERATE_GRADIENT_ACCUMULATION_STEPS"):
            why = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS is set"
        elif self.accumulations and self.first is None:
            why = "the program accumulates gradients in several loops"
        elif self.session.trainer is not None:
            why = "the program creates TrainingArguments after the Accelerator"
        return why

    def unsuitable_loop(self, loop):
        """Returns what the loop does that would not be the same with more micro-batches, or ""."""
        optim = self.torch.optim
        prepared = getattr(loop.accelerator(), "_optimizers", None)
        why = ""
        if loop.zips or self.first is not None and self.first[1] == loop.key and not loop.in_head:
            why = "the program trains with several DataLoaders at once"
        elif loop.counts:
            why = "the training loop has a fixed number of batches"
        elif not loop.divides_the_loss():
            why = "the program does not call Accelerator.backward() within accumulate()"
        elif loop.clips_each_time():
            why = (
                "the program would clip the gradients after each micro-batch; clip them only if "
                "accelerator.sync_gradients"
            )
        elif loop.clears_early():
            why = (
                "the program would clear the gradients of earlier micro-batches before the "
                "optimizer step"
            )
        elif not prepared:
            why = "the program prepares no optimizer with Accelerator.prepare()"
        for stepped in loop.stepped_each_time():
            module = type(stepped).__module__
            if module.startswith("accelerate."):
                if not getattr(stepped, "step_with_optimizer", True):
                    why = "a learning rate scheduler would step after each micro-batch"
            elif isinstance(stepped, optim.Optimizer):
                why = "an optimizer that is not prepared would step after each micro-batch"
            elif any(
                base.__module__ == "torch.optim.lr_scheduler" for base in type(stepped).__mro__
            ):
                why = "a learning rate scheduler would step after each micro-batch"
        return why

    def unsuitable_processes(self, loader):
        """Returns why the batches cannot be divided although they could be in a program of one
        process, or ""."""
        shard = loader.batch_sampler
        why = ""
        if shard is not _sampler(loader) and shard.split_batches:
            why = "Accelerator splits the batches among the processes (split_batches=True)"
        elif type(loader.dataset).__name__ == "IterableDatasetShard":
            why = "several processes share the stream of samples"
        return why

    def stepped(self, optimizer):
        accelerator = self.divided[0]() if self.divided is not None else None
        if accelerator is not None:
            self.check(accelerator, {"gradient_accumulation_steps": self.divided[1]})
            if not self.accumulations or not accelerator.sync_gradients:
                self.reject("an optimizer that is not prepared would step after each micro-batch")
        for trainer, (_, _, wanted) in self.fitted.items():
            self.check(trainer, wanted)

    def finish(self):
        super().finish()
        # With the change made by hand, len(loader) would have been larger when it was called.
        ended = self.session.process.about["ended"] in ("end", "exit")
        if ended and self.divided is not None and self.measured and self.session.steps < 2:
            self.reject(
                "the program counts its batches before the training, and ends after less than two "
                "steps"
            )

    def check(self, owner, settings):
        for name, value in settings.items():
            if getattr(owner, name) != value:
                self.reject("the program sets %s=%r afterwards" % (name, getattr(owner, name)))

    # --- Lightning ---

    def watch_fit(self, module):
        kind = module._FitLoop
        begin, request, process = (
            kind.__init__,
            module._request_dataloader,
            module._process_dataloader,
        )
        requested = []

        @functools.wraps(begin)
        def __init__(loop, trainer, *args, **kwargs):
            self.trainers[trainer] = _Created(self.session.place(), "Trainer")
            return begin(loop, trainer, *args, **kwargs)

        @functools.wraps(request)
        def request_(*args, **kwargs):
            requested[:] = [request(*args, **kwargs)]
            return requested[0]

        @functools.wraps(process)
        def process_(trainer, *args, **kwargs):
            loader = process(trainer, *args, **kwargs)
            if requested:
                self.fits(trainer, requested.pop(), loader)
            return loader

        kind.__init__ = __init__
        # The module has imported both functions for the batches of the training only.
        module._request_dataloader, module._process_dataloader = request_, process_

    def fits(self, trainer, requested, loader):
        """Called before Lightning's Trainer counts the batches of a DataLoader. `requested`: the
        DataLoader that the program has created."""
        found = self.of_loader(requested)
        why = self.unsuitable_trainer(trainer, requested, loader)
        why = why or self.unsuitable_loader(requested, found)
        if why:
            if trainer in self.fitted:
                self.reject(why)
            self.refuse(why)
            return
        if found.batch is None:
            found.batch = _sampler(requested).batch_size
        if trainer in self.fitted:
            batch, own, _ = self.fitted[trainer]
            if batch != found.batch:
                self.reject("the program trains with DataLoaders of different batch sizes")
                return
        else:
            own = {
                name: getattr(trainer, name)
                for name in ("accumulate_grad_batches", "limit_train_batches", "val_check_interval")
            }
        wanted = self.parts(found.batch, own["accumulate_grad_batches"], "batch", "steps")
        if not wanted:
            return
        times = found.batch // wanted["batch"]
        # These settings also count micro-batches, unless they are shares of an epoch.
        settings = {
            name: value * times
            for name, value in own.items()
            if isinstance(value, int) and not isinstance(value, bool)
        }
        words = ", ".join("%s=%d" % setting for setting in settings.items())
        self.reach("Trainer(..., %s)" % words, place=self.trainers[trainer].place)
        if self.reaches(found, wanted["batch"]):
            self.fitted[trainer] = found.batch, own, settings
            _set_batch(loader, wanted["batch"])
            for name, value in settings.items():
                setattr(trainer, name, value)

    def unsuitable_trainer(self, trainer, requested, loader):
        """Returns why Lightning's Trainer cannot train with smaller batches, or ""."""
        kinds = self.torch.utils.data.DataLoader
        evaluates = trainer.fit_loop.epoch_loop.val_loop._data_source.instance
        callbacks = {base.__name__ for one in trainer.callbacks for base in type(one).__mro__}
        why = ""
        if isinstance(requested, (list, tuple, dict)) or hasattr(requested, "flattened"):
            why = "the program trains with several DataLoaders at once"
        elif not isinstance(requested, kinds) or not isinstance(loader, kinds):
            why = "the batches do not come from a DataLoader of torch"
        elif not trainer.lightning_module.automatic_optimization:
            why = "the LightningModule has automatic_optimization=False"
        elif (
            requested is evaluates
            or isinstance(evaluates, (list, tuple))
            and any(requested is one for one in evaluates)
        ):
            why = "the program also evaluates with the training DataLoader"
        elif "GradientAccumulationScheduler" in callbacks:
            why = "GradientAccumulationScheduler sets the number of micro-batches"
        elif "BatchSizeFinder" in callbacks:
            why = "BatchSizeFinder sets the batch size"
        elif "DeepSpeed" in type(trainer.strategy).__name__:
            why = "DeepSpeed and Megatron-LM have their own settings of the batch"
        elif trainer.fast_dev_run:
            why = "Trainer has fast_dev_run, which counts batches"
        elif trainer.overfit_batches:
            why = "Trainer has overfit_batches, which counts batches"
        return why
