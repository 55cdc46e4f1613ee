"""A planned program uploads nothing. Tests every row of emulated/python/vramscope/uploads.py with
stand-ins for the libraries, and the installed libraries with a server on 127.0.0.1 that logs its
requests.

    python3 uploads_test.py

The libraries are imported with VRAMSCOPE_TEST_PYTHONPATH, by the interpreter
VRAMSCOPE_TEST_UPLOADS_PYTHON, else VRAMSCOPE_TEST_PYTHON, else the one that runs this test."""

import base64
import collections
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "emulated", "python")
PYTHON = (
    os.environ.get("VRAMSCOPE_TEST_UPLOADS_PYTHON")
    or os.environ.get("VRAMSCOPE_TEST_PYTHON")
    or sys.executable
)
PATH = os.environ.get("VRAMSCOPE_TEST_PYTHONPATH", "")

sys.path.insert(0, PACKAGE)
from vramscope import servers, uploads  # noqa: E402

WRITES = ("POST", "PUT", "PATCH", "DELETE")


class Server(http.server.BaseHTTPRequestHandler):
    """A server without data that accepts all requests and logs them."""

    def answer(self):
        self.server.asked.append((self.command, self.path))
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        self.send_response(200 if self.command in WRITES else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.send_header("ETag", '"0"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"{}")

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *arguments):
        pass


class Uploads(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        for name in ("home", "output"):
            os.mkdir(os.path.join(self.folder, name))

    def run_program(self, program, *paths, hooked=True, **environment):
        """Runs the code with the hooks for uploads that `vramscope plan` installs."""
        own = (
            {
                "VRAMSCOPE_PROGRAM_OUTPUT": os.path.join(self.folder, "output"),
                "VRAMSCOPE_PROGRAM_EMULATED": "/nowhere",
            }
            if hooked
            else {}
        )
        path = os.pathsep.join([*([os.path.join(PACKAGE, "inject")] if hooked else []), *paths])
        return subprocess.run(
            [PYTHON, "-c", program],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            env={
                "PATH": os.environ["PATH"],
                "HOME": os.path.join(self.folder, "home"),
                "PYTHONPATH": path,
                "PYTHONDONTWRITEBYTECODE": "1",
                **own,
                **environment,
            },
        )


class StandIns(Uploads):
    """Replaces the libraries in the table of hooks with modules whose functions return a text if
    they are really called."""

    def write(self, rows):
        modules = collections.defaultdict(lambda: collections.defaultdict(set))
        for module, owner, names in rows:
            modules[module][owner] |= set(names)
        for module, owners in modules.items():
            path = os.path.join(self.folder, *module.split("."))
            os.makedirs(path)
            at = path
            while at != self.folder:
                open(os.path.join(at, "__init__.py"), "a").close()
                at = os.path.dirname(at)
            text = (
                "class constants:\n    ENDPOINT = 'https://hub'\nclass CommitInfo:\n    def "
                "__init__(self, **kwargs):\n        self.__dict__.update(kwargs)\n"
                "class RepoUrl(str):\n    pass\n"
            )
            for owner, names in owners.items():
                indent = "    " if owner else ""
                text += "class %s:\n    endpoint = 'https://hub'\n" % owner if owner else ""
                for name in sorted(names):
                    begin = (
                        "async def"
                        if "aio" in module
                        or "gcsfs" in module
                        and name.startswith("_")
                        and "upload" not in name
                        else "def"
                    )
                    text += (
                        "%s%s %s(%srepo_id=None, *args, **kwargs):\n%s    return 'went out', "
                        "kwargs, repo_id\n"
                        % (indent, begin, name, "self, " if owner else "", indent)
                    )
            with open(os.path.join(path, "__init__.py"), "a") as file:
                file.write(text)

    def calls(self, rows):
        """Calls each function and returns the results, with "module owner name" as keys."""
        program = (
            "import asyncio, importlib, inspect, json, sys\nanswers = {}\nfor module, owner, "
            "names in json.loads(sys.stdin.read()):\n"
            "    found = importlib.import_module(module)\n    of = getattr(found, owner)() if "
            "owner else found\n    for name in names:\n"
            "        answer = getattr(of, name)('me/model')\n        answer = "
            "asyncio.run(answer) if inspect.isawaitable(answer) else answer\n"
            "        answers['%s %s %s' % (module, owner, name)] = "
            "repr(answer)\nprint(json.dumps(answers))\n"
        )
        path = os.path.join(self.folder, "program.py")
        with open(path, "w") as file:
            file.write(program)
        self.write(rows)
        result = subprocess.run(
            [PYTHON, path],
            input=json.dumps(rows),
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": os.pathsep.join([os.path.join(PACKAGE, "inject"), self.folder]),
                "VRAMSCOPE_PROGRAM_OUTPUT": os.path.join(self.folder, "output"),
                "VRAMSCOPE_PROGRAM_EMULATED": "/nowhere",
            },
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.said = result.stderr
        return json.loads(result.stdout)

    def test_every_function_of_the_table_is_skipped(self):
        rows = [
            (module, owner, names)
            for _, module, owner, names, _ in uploads.SKIPPED
            if names != ("_make_api_call",)
        ]
        answers = self.calls(rows)
        self.assertEqual(len(answers), sum(len(names) for _, _, names in rows))
        self.assertEqual([key for key, answer in answers.items() if "went out" in answer], [])
        self.assertIn(
            "vramscope: huggingface_hub.upload_file is skipped: a plan uploads nothing (me/model)",
            self.said,
        )

    def test_forced_settings_override_the_program(self):
        rows = [
            (module, owner, (name,))
            for _, module, owner, name, _ in uploads.FORCED
            if name != "__init__"
        ]
        for key, answer in self.calls(rows).items():
            forced = next(
                forced
                for _, module, owner, name, forced in uploads.FORCED
                if key == "%s %s %s" % (module, owner, name)
            )
            self.assertIn("went out", answer)
            for pair in forced.items():
                self.assertIn("%r: %r" % pair, answer)

    def test_a_version_that_lacks_a_function_is_left_as_it_is(self):
        self.write([("wandb", "", ("nothing_else",))])
        result = self.run_program("import wandb; print(wandb.nothing_else('x'))", self.folder)
        self.assertIn("went out", result.stdout, result.stderr)

    def test_switches_are_set(self):
        names = [*uploads.VARIABLES, *uploads.NO_NETWORK]
        program = (
            "import json, os; print(json.dumps({name: os.environ.get(name) for name in %r}))"
            % names
        )
        have = json.loads(self.run_program(program, WANDB_MODE="online").stdout)
        self.assertEqual(have, {**dict.fromkeys(uploads.NO_NETWORK), **uploads.VARIABLES})
        have = json.loads(self.run_program(program, VRAMSCOPE_NO_NETWORK="1").stdout)
        self.assertEqual(have, {**uploads.NO_NETWORK, **uploads.VARIABLES})


KEY = base64.b64encode(b"k" * 32).decode()
# The programs that upload, one for each library. The environment variable SERVER has the address to
# use.
PROGRAMS = {
    "huggingface_hub": """
import os
from huggingface_hub import HfApi, create_repo, upload_file, upload_folder
open("a.bin", "wb").write(b"x" * 100)
assert create_repo("me/model", token="hf_x").repo_id == "me/model"
where = {"repo_id": "me/model", "token": "hf_x"}
assert upload_file(path_or_fileobj="a.bin", path_in_repo="a.bin", **where).oid
api = HfApi(token="hf_x")
os.mkdir("folder"); open("folder/b.bin", "wb").write(b"y")
assert upload_folder(folder_path="folder", **where).commit_message is not None
assert api.upload_folder(folder_path="folder", repo_id="me/model", run_as_future=True).result().oid
api.create_branch("me/model", branch="b"); api.delete_repo("me/model")
try:
    api.model_info("me/model")
except Exception:
    pass
""",
    "boto3": """
import boto3, os
account = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
client = boto3.client("s3", endpoint_url=os.environ["SERVER"], **account)
open("a.bin", "wb").write(b"x" * (20 << 20))
client.create_bucket(Bucket="b"); client.upload_file("a.bin", "b", "k")
client.put_object(Bucket="b", Key="k", Body=b"x")
client.upload_fileobj(open("a.bin", "rb"), "b", "k")
client.delete_object(Bucket="b", Key="k")
resource = boto3.resource("s3", endpoint_url=os.environ["SERVER"], **account)
resource.Object("b", "k").upload_file("a.bin")
try:
    client.get_object(Bucket="b", Key="k")
except Exception:
    pass
""",
    "s3fs": """
import os, s3fs
files = s3fs.S3FileSystem(endpoint_url=os.environ["SERVER"], key="a", secret="b",
                          client_kwargs={"region_name": "us-east-1"})
open("a.bin", "wb").write(b"x" * 1000)
files.pipe("b/k", b"x"); files.put("a.bin", "b/k2")
with files.open("b/k3", "wb") as file:
    file.write(b"x" * 1000)
""",
    "google.cloud.storage": """
import os
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
client = storage.Client(project="p", credentials=AnonymousCredentials(),
                        client_options={"api_endpoint": os.environ["SERVER"]})
open("a.bin", "wb").write(b"x" * 1000)
blob = client.bucket("b").blob("k")
blob.upload_from_string("x"); blob.upload_from_filename("a.bin")
blob.upload_from_file(open("a.bin", "rb"))
with blob.open("wb") as file:
    file.write(b"x" * (50 << 20))
with blob.open("w") as file:
    file.write("text")
blob.delete(); client.create_bucket("c")
try:
    client.bucket("b").exists()
except Exception:
    pass
""",
    "gcsfs": """
import gcsfs, os
files = gcsfs.GCSFileSystem(endpoint_url=os.environ["SERVER"], token="anon", project="p")
open("a.bin", "wb").write(b"x" * 1000)
files.pipe("b/k", b"x"); files.put("a.bin", "b/k2")
with files.open("b/k3", "wb") as file:
    file.write(b"x" * 1000)
""",
    "azure.storage.blob": """
import os
from azure.storage.blob import BlobServiceClient
credential = {"account_name": "account", "account_key": os.environ["KEY"]}
service = BlobServiceClient(os.environ["SERVER"] + "/account", credential=credential)
service.create_container("c"); service.get_blob_client("c", "k").upload_blob(b"x", overwrite=True)
container = service.get_container_client("c")
container.upload_blob("l", b"x" * 1000); container.delete_blob("l")
""",
    "adlfs": """
import adlfs, os
files = adlfs.AzureBlobFileSystem(connection_string=
    "DefaultEndpointsProtocol=http;AccountName=account;AccountKey=%s;BlobEndpoint=%s/account;" %
    (os.environ["KEY"], os.environ["SERVER"]))
open("a.bin", "wb").write(b"x" * 1000)
files.pipe("c/k", b"x"); files.put("a.bin", "c/k2", overwrite=True)
""",
    "wandb": """
import os, wandb
os.environ["WANDB_API_KEY"] = "0" * 40
wandb.login(); run = wandb.init(project="p", mode="online"); run.log({"x": 1}); wandb.finish()
""",
    "comet_ml": """
import comet_ml
experiment = comet_ml.Experiment(api_key="a", project_name="p", workspace="w")
experiment.log_metric("x", 1); experiment.end()
""",
    "clearml": """
from clearml import Task
task = Task.init(project_name="p", task_name="t", auto_connect_frameworks=False)
task.get_logger().report_scalar("a", "b", 1, 1); task.close()
""",
    "neptune": """
import neptune
run = neptune.init_run(project="a/b", mode="async"); run["x"].append(1); run.stop()
""",
    "mlflow": """
import mlflow, os
mlflow.set_tracking_uri(os.environ["SERVER"])
with mlflow.start_run():
    mlflow.log_metric("x", 1); mlflow.log_param("p", 2)
    open("a.txt", "w").write("x")
    if hasattr(mlflow, "log_artifact"):
        mlflow.log_artifact("a.txt")
mlflow.MlflowClient(os.environ["SERVER"]).create_experiment("e")
""",
    "trackio": """
import trackio
trackio.init(project="p", space_id="me/space"); trackio.log({"x": 1}); trackio.finish()
""",
    "swanlab": """
import swanlab
swanlab.init(project="p", mode="cloud"); swanlab.log({"x": 1}); swanlab.finish()
""",
    "dvc": """
import os
from dvc.repo import Repo
repo = Repo.init(no_scm=True); open("a.bin", "wb").write(b"x"); repo.add("a.bin")
with repo.config.edit() as config:
    config["remote"]["r"] = {"url": os.environ["SERVER"] + "/store"}; config["core"]["remote"] = "r"
Repo().push()
""",
}


def installed(library):
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(%r) is None)" % library
    return (
        subprocess.run(
            [PYTHON, "-c", code], env={**os.environ, "PYTHONPATH": PATH}, capture_output=True
        ).returncode
        == 0
    )


class Libraries(Uploads):
    def server(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def asked(self, library, hooked):
        server = self.server()
        url = "http://127.0.0.1:%d" % server.server_address[1]
        token = base64.b64encode(
            json.dumps({"api_address": url, "api_url": url, "api_key": "k"}).encode()
        ).decode()
        everywhere = {
            "SERVER": url,
            "KEY": KEY,
            "HF_ENDPOINT": url,
            "WANDB_BASE_URL": url,
            "COMET_URL_OVERRIDE": url + "/clientlib/",
            "NEPTUNE_API_TOKEN": token,
            "CLEARML_API_HOST": url,
            "CLEARML_WEB_HOST": url,
            "CLEARML_FILES_HOST": url,
            "CLEARML_API_ACCESS_KEY": "a",
            "CLEARML_API_SECRET_KEY": "b",
            "SWANLAB_API_HOST": url,
            "SWANLAB_API_KEY": "k",
            "AWS_EC2_METADATA_DISABLED": "true",
            "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT": "false",
        }
        result = self.run_program(
            PROGRAMS[library], *PATH.split(os.pathsep), hooked=hooked, **everywhere
        )
        return server.asked, result

    def test_nothing_goes_out(self):
        for library in PROGRAMS:
            if not installed(library):
                continue
            with self.subTest(library=library):
                asked, result = self.asked(library, hooked=True)
                self.assertEqual(result.returncode, 0, result.stderr[-3000:])
                self.assertEqual([one for one in asked if one[0] in WRITES], [])
                if library not in ("clearml",):  # only a variable switches clearml off
                    self.assertIn("vramscope: ", result.stderr)
                if library in ("huggingface_hub", "boto3", "google.cloud.storage"):
                    # downloads are allowed
                    self.assertTrue(any(one[0] in ("GET", "HEAD") for one in asked), asked)

    @unittest.skipUnless(installed("huggingface_hub"), "no huggingface_hub")
    def test_without_the_hooks_it_would(self):
        asked, _ = self.asked("huggingface_hub", hooked=False)
        self.assertTrue(any(one[0] in WRITES for one in asked), asked)


class Databases(Uploads):
    def test_addresses_of_database_servers(self):
        for url in ("mysql+pymysql://me:word@host/db", "postgresql://host/db"):
            self.assertTrue(servers.is_database(url), url)
        for url in ("sqlite:///mysql.db", "mysql_runs", "/postgresql://x", None):
            self.assertFalse(servers.is_database(url), url)

    def test_accounts_are_not_shown(self):
        self.assertEqual(servers.shown("mysql://me:word@host:1/db"), "mysql://host:1/db")
        self.assertEqual(servers.shown("mysql://me:w@rd@host/db?password=word"), "mysql://host/db")
        self.assertEqual(servers.shown("mysql://me:w/o#rd@host/db"), "mysql://host/db")
        self.assertEqual(servers.shown("https://host/a@b"), "https://host/a@b")

    @unittest.skipUnless(installed("optuna"), "no optuna")
    def test_trials_are_not_added_to_a_study_of_a_server(self):
        begin = "import optuna\nwhere = dict(study_name='s', storage='sqlite:///server.db')\n"
        made = self.run_program(
            begin + "study = optuna.create_study(direction='maximize', **where)\n"
            "study.set_user_attr('kind', 'real')\n"
            "study.optimize(lambda trial: trial.suggest_float('x', 0, 1), n_trials=3)",
            *PATH.split(os.pathsep),
            hooked=False,
        )
        self.assertEqual(made.returncode, 0, made.stderr)
        server = os.path.join(self.folder, "server.db")
        with open(server, "rb") as file:
            before = file.read()
        # a file takes the place of the server
        stand_in = (
            "from vramscope import servers\n"
            "servers.is_database = lambda url: url.endswith('server.db')\n"
        )
        trains = "study.optimize(lambda trial: trial.suggest_float('x', 0, 0), n_trials=1)\n"
        planned = self.run_program(
            stand_in
            + begin
            + "study = optuna.load_study(**where)\n"
            + trains
            + "study = optuna.create_study(load_if_exists=True, direction='maximize', **where)\n"
            + trains
            + "print(len(study.trials), study.best_value > 0, study.user_attrs)\n"
            "print(len(optuna.create_study(storage=where['storage'], study_name='t').trials))\n",
            *PATH.split(os.pathsep),
        )
        self.assertEqual(planned.stdout, "5 True {'kind': 'real'}\n0\n", planned.stderr)
        self.assertIn("optuna writes to a temporary database", planned.stderr)
        with open(server, "rb") as file:
            self.assertEqual(file.read(), before)
        # a server that cannot be read
        with open(server, "wb") as file:
            file.write(b"no database" * 100)
        planned = self.run_program(
            stand_in
            + begin
            + "print(len(optuna.create_study(storage=where['storage'], study_name='u').trials))\n",
            *PATH.split(os.pathsep),
        )
        self.assertEqual(planned.stdout, "0\n", planned.stderr)
        self.assertIn("optuna's study was not copied from its server", planned.stderr)


if __name__ == "__main__":
    print(
        "uploads: installed here: %s"
        % (", ".join(filter(installed, PROGRAMS)) or "none of the libraries")
    )
    unittest.main(verbosity=1)
