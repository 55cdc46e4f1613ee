"""Keeps a planned program from uploading. The program must not replace a published model by an
untrained one, or add a planned run to the real runs of an experiment. If a library has a switch
against uploads, this switch is set (VARIABLES, FORCED). Otherwise the library's writing functions
are skipped and return what they would return on success (SKIPPED). Downloads are not affected, nor
are a program's own HTTP requests, because a POST does not show whether it changes anything."""

import functools
import os
import sys

from vramscope import imports, servers, studies

# Libraries read these variables, also in child processes.
VARIABLES = {
    "WANDB_MODE": "disabled",
    "COMET_MODE": "DISABLED",
    "SWANLAB_MODE": "disabled",
    "CLEARML_OFFLINE_MODE": "1",
    "DVC_STUDIO_OFFLINE": "true",
    "MLFLOW_ALLOW_FILE_STORE": "true",  # needed because a folder replaces MLflow's server (SERVERS)
    # telemetry
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "WANDB_ERROR_REPORTING": "false",
    "DVC_NO_ANALYTICS": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
}
# These variables are also set if downloads are forbidden.
NO_NETWORK = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_EVALUATE_OFFLINE": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",
}


# --- the results of skipped functions; `call` has the arguments by name ---


def nothing(call, module):
    return None


def _commit(call, module):
    commit = module.CommitInfo(
        commit_url="%s/%s/commit/%s" % (_hub(call, module), call.get("repo_id", ""), "0" * 40),
        commit_message=call.get("commit_message") or "",
        commit_description=call.get("commit_description") or "",
        oid="0" * 40,
    )
    return _later(commit) if call.get("run_as_future") else commit


def _repository(call, module):
    kind = call.get("repo_type")
    return module.RepoUrl(
        "%s/%s%s"
        % (
            _hub(call, module),
            {"dataset": "datasets/", "space": "spaces/"}.get(kind, ""),
            call.get("repo_id") or call.get("to_id"),
        )
    )


def _hub(call, module):
    return getattr(call.get("self"), "endpoint", None) or module.constants.ENDPOINT


def _later(value=None):
    from concurrent.futures import Future

    future = Future()
    future.set_result(value)
    return future


def _s3(call, module):
    etag = '"%s"' % ("0" * 32)
    copied = {"ETag": etag}
    return {
        "ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0},
        "ETag": etag,
        "UploadId": "skipped",
        "Deleted": [],
        "CopyObjectResult": copied,
        "CopyPartResult": copied,
    }


def _s3_reads(call):
    service = call["self"].meta.service_model.service_name
    return service not in ("s3", "s3control") or call["operation_name"].startswith(
        ("Get", "Head", "List", "Select")
    )


def _s3_target(call):
    parameters = call.get("api_params") or {}
    return "s3://%s/%s" % (parameters.get("Bucket", ""), parameters.get("Key", ""))


def _azure(call, module):
    import datetime

    return {
        "etag": '"0x0"',
        "last_modified": datetime.datetime.now(datetime.timezone.utc),
        "client_request_id": "",
        "request_id": "",
        "version": "",
        "date": None,
        "copy_id": "skipped",
        "copy_status": "success",
    }


def _length(call, module):
    return len(next(value for name, value in call.items() if name != "self"))


def _bucket(call, module):
    bucket = call.get("bucket_or_name")
    return call["self"].bucket(bucket) if isinstance(bucket, str) else bucket


def _no_files(call, module):
    return 0


_HUB = "huggingface_hub.hf_api"
_GCS = "google.cloud.storage"
_GCSFS_WRITES = (
    "_put_file",
    "_pipe_file",
    "_rm_file",
    "_rm_files",
    "_rm",
    "_mkdir",
    "_makedirs",
    "_rmdir",
    "_cp_file",
    "_mv_file",
    "_merge",
    "_setxattrs",
)
_BLOB_WRITES = (
    "upload_blob",
    "upload_blob_from_url",
    "stage_block",
    "stage_block_from_url",
    "commit_block_list",
    "create_append_blob",
    "append_block",
    "append_block_from_url",
    "create_page_blob",
    "upload_page",
    "clear_page",
    "delete_blob",
    "undelete_blob",
    "start_copy_from_url",
    "set_blob_metadata",
    "set_http_headers",
    "set_blob_tags",
    "set_standard_blob_tier",
)
_LAKE_WRITES = (
    "create_file",
    "upload_data",
    "append_data",
    "flush_data",
    "delete_file",
    "rename_file",
    "create_directory",
    "delete_directory",
    "rename_directory",
)

# (library, module, owner within the module, functions to skip, function that returns their result).
# Names that a version of the library does not have are ignored.
SKIPPED = (
    (
        "huggingface_hub",
        _HUB,
        "HfApi",
        ("create_repo", "duplicate_space", "duplicate_repo"),
        _repository,
    ),
    (
        "huggingface_hub",
        _HUB,
        "HfApi",
        (
            "create_commit",
            "upload_file",
            "upload_folder",
            "delete_file",
            "delete_files",
            "delete_folder",
        ),
        _commit,
    ),
    (
        "huggingface_hub",
        _HUB,
        "HfApi",
        (
            "upload_large_folder",
            "preupload_lfs_files",
            "delete_repo",
            "update_repo_settings",
            "update_repo_visibility",
            "move_repo",
            "create_branch",
            "delete_branch",
            "create_tag",
            "delete_tag",
            "super_squash_history",
            "permanently_delete_lfs_files",
            "create_discussion",
            "create_pull_request",
            "comment_discussion",
            "change_discussion_status",
            "merge_pull_request",
            "add_space_secret",
            "delete_space_secret",
            "add_space_variable",
            "delete_space_variable",
            "request_space_hardware",
            "create_collection",
            "add_collection_item",
            "delete_collection",
            "create_bucket",
            "delete_bucket",
            "batch_bucket_files",
            "sync_bucket",
            "copy_files",
            "run_job",
            "run_uv_job",
            "create_inference_endpoint",
        ),
        nothing,
    ),
    # before 1.0
    (
        "huggingface_hub",
        "huggingface_hub.repository",
        "Repository",
        ("git_push", "push_to_hub"),
        nothing,
    ),
    (
        "modelscope",
        "modelscope.hub.api",
        "HubApi",
        (
            "create_model",
            "create_repo",
            "push_model",
            "upload_file",
            "upload_folder",
            "create_commit",
            "delete_model",
            "delete_repo",
        ),
        nothing,
    ),
    ("boto3", "botocore.client", "BaseClient", ("_make_api_call",), _s3),
    (
        "boto3",
        "s3transfer.crt",
        "CRTTransferManager",
        ("upload", "delete"),
        lambda call, module: _later(),
    ),
    ("aiobotocore", "aiobotocore.client", "AioBaseClient", ("_make_api_call",), _s3),
    (
        "google-cloud-storage",
        _GCS + ".blob",
        "Blob",
        (
            "upload_from_file",
            "upload_from_filename",
            "upload_from_string",
            "delete",
            "compose",
            "patch",
            "update",
            "make_public",
            "update_storage_class",
        ),
        nothing,
    ),
    (
        "google-cloud-storage",
        _GCS + ".blob",
        "Blob",
        ("rewrite",),
        lambda call, module: (None, 0, 0),
    ),
    (
        "google-cloud-storage",
        _GCS + ".bucket",
        "Bucket",
        (
            "create",
            "delete",
            "delete_blob",
            "delete_blobs",
            "copy_blob",
            "rename_blob",
            "patch",
            "update",
        ),
        nothing,
    ),
    ("google-cloud-storage", _GCS + ".client", "Client", ("create_bucket",), _bucket),
    ("google-cloud-storage", _GCS + ".fileio", "BlobWriter", ("write",), _length),
    (
        "google-cloud-storage",
        _GCS + ".fileio",
        "BlobWriter",
        ("_upload_chunks_from_buffer",),
        nothing,
    ),
    ("gcsfs", "gcsfs.core", "GCSFileSystem", _GCSFS_WRITES, nothing),
    (
        "gcsfs",
        "gcsfs.core",
        "GCSFile",
        ("_initiate_upload", "_simple_upload", "commit", "discard"),
        nothing,
    ),
    ("gcsfs", "gcsfs.core", "GCSFile", ("_upload_chunk",), lambda call, module: True),
    ("azure-storage-blob", "azure.storage.blob._blob_client", "BlobClient", _BLOB_WRITES, _azure),
    (
        "azure-storage-blob",
        "azure.storage.blob._container_client",
        "ContainerClient",
        ("create_container", "delete_container", "set_container_metadata"),
        _azure,
    ),
    (
        "azure-storage-blob",
        "azure.storage.blob._container_client",
        "ContainerClient",
        ("delete_blobs",),
        lambda call, module: iter(()),
    ),
    (
        "azure-storage-blob",
        "azure.storage.blob.aio._blob_client_async",
        "BlobClient",
        _BLOB_WRITES,
        _azure,
    ),
    (
        "azure-storage-blob",
        "azure.storage.blob.aio._container_client_async",
        "ContainerClient",
        ("create_container", "delete_container", "set_container_metadata"),
        _azure,
    ),
    (
        "azure-storage-file-datalake",
        "azure.storage.filedatalake._data_lake_file_client",
        "DataLakeFileClient",
        _LAKE_WRITES,
        _azure,
    ),
    (
        "azure-storage-file-datalake",
        "azure.storage.filedatalake._data_lake_directory_client",
        "DataLakeDirectoryClient",
        _LAKE_WRITES,
        _azure,
    ),
    ("dvc", "dvc.repo", "Repo", ("push",), _no_files),
    (
        "tensorboard",
        "tensorboard.uploader.uploader",
        "TensorBoardUploader",
        ("create_experiment",),
        lambda call, module: "skipped",
    ),
    (
        "tensorboard",
        "tensorboard.uploader.uploader",
        "TensorBoardUploader",
        ("start_uploading",),
        nothing,
    ),
    ("wandb", "wandb", "", ("login",), lambda call, module: True),
    ("comet_ml", "comet_ml", "", ("login", "init"), nothing),
)
# {function that both reads and writes: function that decides whether to let a call with these
# arguments through}
LET_THROUGH = {"_make_api_call": _s3_reads}
TARGETS = {"_make_api_call": _s3_target}

# (library, module, owner, function, keywords set in every call). With these keywords, the library
# itself sends nothing.
FORCED = (
    ("wandb", "wandb", "", "init", {"mode": "disabled"}),
    ("swanlab", "swanlab", "", "init", {"mode": "disabled"}),
    ("comet_ml", "comet_ml", "Experiment", "__init__", {"disabled": True}),
    ("comet_ml", "comet_ml", "ExistingExperiment", "__init__", {"disabled": True}),
    ("comet_ml", "comet_ml", "", "start", {"online": False}),
    ("neptune", "neptune.metadata_containers.run", "Run", "__init__", {"mode": "debug"}),
    ("neptune", "neptune.metadata_containers.model", "Model", "__init__", {"mode": "debug"}),
    (
        "neptune",
        "neptune.metadata_containers.model_version",
        "ModelVersion",
        "__init__",
        {"mode": "debug"},
    ),
    ("neptune", "neptune.metadata_containers.project", "Project", "__init__", {"mode": "debug"}),
    ("neptune_scale", "neptune_scale", "Run", "__init__", {"mode": "disabled"}),
    ("trackio", "trackio", "", "init", {"space_id": None, "dataset_id": None, "server_url": None}),
)

# (library, module, owner, function, parameter). The parameter has the address of a server. The
# address is replaced by a folder of the plan. If `parameter` is "", the function returns the
# address.
SERVERS = (
    ("mlflow", "mlflow.tracking._tracking_service.utils", "", "_resolve_tracking_uri", ""),
    ("mlflow", "mlflow.tracking._tracking_service.utils", "", "get_tracking_uri", ""),
    ("mlflow", "mlflow.tracking._tracking_service.utils", "", "_get_store", "store_uri"),
    ("mlflow", "mlflow.tracking._model_registry.utils", "", "get_registry_uri", ""),
    ("mlflow", "mlflow.tracking._model_registry.utils", "", "_get_store", "store_uri"),
    ("aim", "aim.sdk.repo", "Repo", "from_path", "path"),
)
_REMOTE = ("http:", "https:", "aim:", "databricks", "uc:", "grpc:")
_TARGETS = (
    "repo_id",
    "model_id",
    "space_id",
    "bucket",
    "path",
    "lpath",
    "filename",
    "project",
    "project_name",
    "workspace",
    "name",
)


class _Record:
    """Collects what was skipped. Reports it as assumptions when torch has been imported and Process
    exists."""

    def __init__(self):
        self.process, self.waiting = None, []

    def attach(self, process):
        self.process, waiting = process, self.waiting
        self.waiting = []
        for assumption in waiting:
            process.assume(*assumption)

    def assume(self, what, where=""):
        if self.process is not None:
            self.process.assume(what, where)
            return
        if (what, where) not in self.waiting:
            self.waiting.append((what, where))
            print("vramscope: %s (%s)" % (what, where), file=sys.stderr)

    def part(self, what, install, *args, of=""):
        try:
            install(*args)
        except Exception as error:  # a version of the library with another structure
            self.assume(
                "vramscope's hooks are missing with this version of %s: the library might send "
                "data to its server, although a plan should send nothing" % of,
                "%s: %s" % (type(error).__name__, error),
            )


record = _Record()


def _bound(function, args, kwargs):
    import inspect

    try:
        return dict(inspect.signature(function).bind_partial(*args, **kwargs).arguments)
    except (TypeError, ValueError):
        return dict(kwargs)


def _target(name, call):
    if name in TARGETS:
        return TARGETS[name](call)
    found = [call[key] for key in _TARGETS if isinstance(call.get(key), (str, os.PathLike))]
    if not found:  # the object's own name, for example that of a container of blobs
        found = [getattr(call.get("self"), key, None) for key in ("path", "url", "name")]
    return next((str(one) for one in found if isinstance(one, (str, os.PathLike))), "")


def _skipped(library, module, name, function, result):
    import inspect

    def answer(args, kwargs):
        call = _bound(function, args, kwargs)
        call.update(call.pop("kwargs", None) or {})
        if name in LET_THROUGH and LET_THROUGH[name](call):
            return False, None
        record.assume(
            "%s.%s is skipped: a plan uploads nothing" % (library, name.strip("_")),
            _target(name, call),
        )
        return True, result(call, module)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def wrapper(*args, **kwargs):
            done, value = answer(args, kwargs)
            return value if done else await function(*args, **kwargs)
    else:

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            done, value = answer(args, kwargs)
            return value if done else function(*args, **kwargs)

    return wrapper


def _replaced(function, forced):
    """Returns the arguments of a call with those in `forced` replaced, whether the program passed
    them by position or by name."""
    import inspect

    parameters = list(inspect.signature(function).parameters.values())
    names = [parameter.name for parameter in parameters]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)

    def replaced(args, kwargs):
        args = list(args)
        for key, value in forced.items():
            if key in names and names.index(key) < len(args):
                args[names.index(key)] = value
            elif key in names or takes_any:
                kwargs[key] = value
        return args, kwargs

    return replaced


def _forced(library, name, function, forced):
    replaced = _replaced(function, forced)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        record.assume(
            "in a plan, %s sends nothing (%s)"
            % (library, ", ".join("%s=%r" % pair for pair in forced.items())),
            "%s.%s" % (library, name),
        )
        args, kwargs = replaced(args, kwargs)
        return function(*args, **kwargs)

    return wrapper


def _local(library, uri):
    if not isinstance(uri, str) or not (uri.startswith(_REMOTE) or servers.is_database(uri)):
        return uri
    record.assume(
        "%s writes to a temporary folder, not to its server: a plan uploads nothing" % library,
        servers.shown(uri),
    )
    folder = os.path.join(os.environ["VRAMSCOPE_PROGRAM_OUTPUT"], "scratch", library)
    # the library creates the folder itself, with its contents
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    return "file://" + folder if library == "mlflow" else folder


def _to_folder(library, function, parameter):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if parameter:
            uri = _bound(function, args, kwargs).get(parameter)
            if _local(library, uri) is not uri:
                args, kwargs = _replaced(function, {parameter: _local(library, uri)})(args, kwargs)
            return function(*args, **kwargs)
        return _local(library, function(*args, **kwargs))

    return wrapper


def _rows():
    """Yields the hooks: (module, owner, names, function that wraps a function with one of these
    names)."""
    for library, module, owner, names, result in SKIPPED:
        yield (
            module,
            owner,
            names,
            lambda found, name, function, library=library, result=result: _skipped(
                library, found, name, function, result
            ),
        )
    for library, module, owner, name, forced in FORCED:
        yield (
            module,
            owner,
            (name,),
            lambda found, name, function, library=library, forced=forced: _forced(
                library, name, function, forced
            ),
        )
    for library, module, owner, name, parameter in SERVERS:
        yield (
            module,
            owner,
            (name,),
            lambda found, name, function, library=library, parameter=parameter: _to_folder(
                library, function, parameter
            ),
        )


def _hook(owner_name, names, wrap, module):
    owner = getattr(module, owner_name) if owner_name else module
    for name in names:
        plain = vars(owner).get(name)
        function = getattr(owner, name, None)
        if function is None:
            continue
        if isinstance(plain, (staticmethod, classmethod)):
            hooked = type(plain)(wrap(module, name, plain.__func__))
        else:
            hooked = wrap(module, name, function)
        setattr(owner, name, hooked)
        # the module may contain a bound method, such as create_repo = api.create_repo
        bound = vars(module).get(name)
        if owner is not module and getattr(bound, "__self__", None).__class__ is owner:
            setattr(module, name, getattr(bound.__self__, name))


def start():
    """Called in each Python process of a planned program before the program's code runs."""
    os.environ.update(VARIABLES)
    if os.environ.get("VRAMSCOPE_NO_NETWORK") == "1":
        os.environ.update(NO_NETWORK)
    for module, owner, names, wrap in _rows():
        imports.after(record, module, functools.partial(_hook, owner, names, wrap))
    imports.after(
        record, "optuna.storages._rdb.storage", functools.partial(studies.install, record)
    )
