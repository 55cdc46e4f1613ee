"""Keeps a planned program from adding trials to a study of Optuna in a database server. Losses are
0 in a plan, so its trials would be the best ones of the study. The program uses a SQLite file in
the plan's folder instead. Before a study is created or loaded there, an existing study of the
server is copied, which only reads from the server."""

import functools
import hashlib
import os

from vramscope import servers


def install(record, module):
    """Hooks RDBStorage of the imported module optuna.storages._rdb.storage."""
    storage = module.RDBStorage
    _in_a_file(record, storage)
    for name in ("create_new_study", "get_study_id_from_name"):
        _after_a_copy(record, storage, name)


def _in_a_file(record, storage):
    import inspect

    begin = storage.__init__
    signature = inspect.signature(begin)

    @functools.wraps(begin)
    def wrapper(*args, **kwargs):
        call = signature.bind(*args, **kwargs)
        url = call.arguments["url"]
        if not servers.is_database(url) or call.kwargs.get("skip_table_creation"):
            begin(*args, **kwargs)
            return
        record.assume(
            "optuna writes to a temporary database, not to its server: a plan uploads nothing",
            servers.shown(url),
        )
        call.arguments["url"] = "sqlite:///" + _file(url)
        # These are arguments for the server's driver.
        options = call.arguments.pop("engine_kwargs", None)
        begin(*call.args, **call.kwargs)
        reads_only = "skip_table_creation" in signature.parameters
        call.arguments["self"]._vramscope_server = (url, options) if reads_only else None

    storage.__init__ = wrapper


def _file(url):
    folder = os.path.join(os.environ["VRAMSCOPE_PROGRAM_OUTPUT"], "scratch")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, "optuna-%s.db" % hashlib.sha256(url.encode()).hexdigest()[:16])


def _after_a_copy(record, storage, name):
    function = getattr(storage, name)

    @functools.wraps(function)
    def wrapper(self, *args, **kwargs):
        study = kwargs.get("study_name", args[-1] if args else None)
        server, self._vramscope_server = getattr(self, "_vramscope_server", None), None
        try:
            if server is not None and isinstance(study, str):
                _copy(record, storage, study, server, self)
        finally:
            self._vramscope_server = server
        return function(self, *args, **kwargs)

    setattr(storage, name, wrapper)


def _copy(record, storage, study, server, to):
    import optuna

    try:
        to.get_study_id_from_name(study)
        return
    except KeyError:
        pass
    url, options = server
    try:
        source = storage(url, options, skip_compatibility_check=True, skip_table_creation=True)
        try:
            optuna.copy_study(from_study_name=study, from_storage=source, to_storage=to)
        finally:
            source.remove_session()
    except KeyError:
        pass  # the server has no such study, and the program creates one
    except Exception:  # for example no tables yet, or no connection
        record.assume(
            "optuna's study was not copied from its server: the plan begins without its trials",
            servers.shown(url),
        )
