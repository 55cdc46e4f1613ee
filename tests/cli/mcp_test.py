"""Tests `vramscope mcp` with a small client of the Model Context Protocol: its responses, the
requests that it refuses, that standard output contains only messages, and that a client can cancel
requests.

    python3 mcp_test.py VRAMSCOPE
"""

import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import working_folder

HERE = os.path.dirname(os.path.abspath(__file__))
VRAMSCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "vramscope"
PATIENCE = 240  # seconds, enough for a busy computer
MIB = 1 << 20
setUpModule = working_folder.enter


def snapshot(blocks):
    """Returns a snapshot in the form of torch.cuda.memory._snapshot(). `blocks` lists the sizes of
    the blocks in MiB. Each block has a segment of its own."""
    segments, trace, at = [], [], 0x7F0000000000
    for number, mib in enumerate(blocks):
        size = mib * MIB
        for action in ("segment_alloc", "alloc"):
            trace.append(
                {
                    "action": action,
                    "addr": at,
                    "size": size,
                    "stream": 0,
                    "time_us": 1000 + number,
                    "frames": [{"filename": "train.py", "line": number + 1, "name": "forward"}],
                }
            )
        segments.append(
            {
                "device": 0,
                "address": at,
                "total_size": size,
                "allocated_size": size,
                "active_size": size,
                "requested_size": size,
                "stream": 0,
                "segment_type": "large",
                "segment_pool_id": (0, 0),
                "is_expandable": False,
                "frames": [],
                "blocks": [
                    {
                        "address": at,
                        "size": size,
                        "requested_size": size,
                        "state": "active_allocated",
                        "frames": [],
                    }
                ],
            }
        )
        at += 64 * MIB
    return {"segments": segments, "device_traces": [trace], "allocator_settings": {}}


class Client:
    def __init__(self, *options, **environment):
        self.process = subprocess.Popen(
            [VRAMSCOPE, "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        self.lines = queue.Queue()
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def receive(self):
        """Returns the next message, or None if the server has ended."""
        line = self.lines.get(timeout=PATIENCE)
        return None if line is None else json.loads(line)

    def begin(self, method, **params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def ask(self, method, **params):
        number = self.begin(method, **params)
        while True:
            answer = self.receive()
            assert answer is not None, self.process.stderr.read()
            if answer.get("method") is None:
                assert answer["id"] == number, answer
                return answer

    def initialize(self, version="2025-06-18"):
        answer = self.ask(
            "initialize",
            protocolVersion=version,
            capabilities={},
            clientInfo={"name": "test", "version": "1"},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def close(self):
        if self.process.poll() is None:
            try:
                self.process.stdin.close()
            except OSError:
                pass
        try:
            return self.process.wait(PATIENCE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()


class Mcp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.file = self.write("a.pickle", [8, 24])

    def write(self, name, blocks):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            pickle.dump(snapshot(blocks), file, protocol=4)
        return path

    def client(self, *options, version="2025-06-18", **environment):
        client = Client(*options, TMPDIR=self.folder, **environment)
        self.addCleanup(client.close)
        client.initialize(version)
        return client

    def refused(self, result, *words):
        self.assertTrue(result["isError"], result)
        self.assertNotIn("structuredContent", result)
        for word in words:
            self.assertIn(word, result["content"][0]["text"])

    # --- the protocol ---

    def test_versions_are_negotiated(self):
        for wanted, given in (
            ("2025-06-18", "2025-06-18"),
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-03-26"),
            ("1999-01-01", "2025-11-25"),
        ):
            client = Client()
            self.addCleanup(client.close)
            result = client.initialize(wanted)
            self.assertEqual(result["protocolVersion"], given)
            self.assertEqual(result["serverInfo"]["name"], "vramscope")
            self.assertIn("tools", result["capabilities"])
            self.assertEqual(client.close(), 0)

    def test_the_first_request_is_initialize(self):
        client = Client()
        self.addCleanup(client.close)
        self.assertEqual(client.ask("tools/list")["error"]["code"], -32600)
        self.assertEqual(client.ask("ping")["result"], {})
        client.initialize()
        self.assertIn("tools", client.ask("tools/list")["result"])

    def test_tools_have_schemas(self):
        tools = {tool["name"]: tool for tool in self.client().ask("tools/list")["result"]["tools"]}
        self.assertEqual(
            set(tools),
            {
                "open",
                "plan",
                "peak",
                "explain",
                "diff",
                "check",
                "fit",
                "estimate",
                "devices",
                "show",
            },
        )
        for tool in tools.values():
            self.assertTrue(tool["description"])
            schema = tool["inputSchema"]
            self.assertEqual(schema["type"], "object")
            self.assertIs(schema["additionalProperties"], False)
            for name in schema.get("required", []):
                self.assertIn(name, schema["properties"])
            for name, property in schema["properties"].items():
                self.assertTrue(property["description"], name)

    def test_errors_are_those_of_json_rpc(self):
        client = self.client()
        for line, code in (
            (b"not json\n", -32700),
            (b"[]\n", -32600),
            (b"7\n", -32600),
            (b'{"jsonrpc":"1.0","id":1,"method":"ping"}\n', -32600),
            (b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600),
            (b'{"jsonrpc":"2.0","id":1}\n', -32600),
            (b'{"jsonrpc":"2.0","id":1,"method":7}\n', -32600),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}\n', -32602),
            (b'{"jsonrpc":"2.0","id":1,"method":"nothing/such"}\n', -32601),
            (b"\xff\xfe\n", -32700),
            (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}\n', -32602),
            (
                b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"peak","arguments":7}}\n',
                -32602,
            ),
        ):
            client.write(line)
            self.assertEqual(client.receive()["error"]["code"], code, line)
        self.assertEqual(client.ask("ping")["result"], {})

    def test_long_lines_and_deep_values_are_refused(self):
        client = self.client()
        client.write(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (5 << 20) + b'"}\n')
        self.assertIn("bytes", client.receive()["error"]["message"])
        client.write(
            b'{"jsonrpc":"2.0","id":1,"method":"ping","params":'
            + b"[" * 100000
            + b"]" * 100000
            + b"}\n"
        )
        self.assertIn("deep", client.receive()["error"]["message"])
        client.write(b"[" * 1000000 + b"\n")
        self.assertIn("error", client.receive())
        self.assertEqual(client.ask("ping")["result"], {})

    def test_messages_come_in_pieces_and_together(self):
        client = self.client()
        line = b'{"jsonrpc":"2.0","id":"x","method":"ping"}\r\n'
        for at in range(len(line)):
            client.write(line[at : at + 1])
        self.assertEqual(client.receive(), {"jsonrpc": "2.0", "id": "x", "result": {}})
        client.write(b"\n  \n" + line + line)
        self.assertEqual([client.receive()["id"] for _ in range(2)], ["x", "x"])

    def test_notifications_and_answers_are_not_answered(self):
        client = self.client()
        for message in (
            {"method": "notifications/unknown"},
            {"method": "ping"},
            {"id": 3, "result": {}},
            {"id": 4, "error": {"code": 1, "message": ""}},
            {"method": "notifications/cancelled", "params": {"requestId": 99}},
            {"method": "notifications/cancelled"},
        ):
            client.send({"jsonrpc": "2.0", **message})
        # the next response belongs to this request
        self.assertEqual(client.ask("ping")["result"], {})

    def test_a_batch_has_one_response(self):
        client = self.client(version="2025-03-26")
        client.send(
            [
                {"jsonrpc": "2.0", "id": 1, "method": "ping"},
                {"jsonrpc": "2.0", "method": "notifications/unknown"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
                7,
            ]
        )
        answers = client.receive()
        self.assertEqual(sorted((answer["id"] or 0) for answer in answers), [0, 1, 2])

    def test_it_ends_with_its_client(self):
        client = self.client()
        self.assertEqual(client.close(), 0)

    # --- tools ---

    def test_what_is_in_a_file(self):
        client = self.client()
        opened = client.call("open", file=self.file)
        self.assertFalse(opened["isError"])
        self.assertEqual(opened["structuredContent"]["kind"], "snapshot")
        self.assertEqual(json.loads(opened["content"][0]["text"]), opened["structuredContent"])
        peak = client.call("peak", file=self.file, by="stack")["structuredContent"]
        self.assertEqual(peak["allocated"], 32 * MIB)
        self.assertIn("train.py:2", peak["groups"][0]["name"])
        self.assertIn(
            "fragmentation",
            client.call("explain", file=self.file, page="fragmentation")["structuredContent"],
        )
        self.assertEqual(
            len(
                client.call("explain", file=self.file, page="segments")["structuredContent"][
                    "segments"
                ]
            ),
            2,
        )
        check = client.call("check", file=self.file, budget="1MiB")
        self.assertFalse(check["isError"])  # exceeding the budget is a result, not an error
        self.assertFalse(check["structuredContent"]["within_budget"])

    def test_the_command_line_has_the_same_figures(self):
        ours = self.client().call("peak", file=self.file)["structuredContent"]
        theirs = json.loads(
            subprocess.run(
                [VRAMSCOPE, "peak", self.file, "--json"], capture_output=True, check=True
            ).stdout
        )
        self.assertEqual(ours, theirs)

    def test_files_are_compared(self):
        other = self.write("b.pickle", [8, 24, 16])
        diff = self.client().call("diff", a=self.file, b=other)["structuredContent"]
        self.assertEqual(diff["peak"]["allocated"]["delta"], 16 * MIB)

    def test_a_rewritten_file_is_read_again(self):
        client = self.client()
        self.assertEqual(
            client.call("peak", file=self.file)["structuredContent"]["allocated"], 32 * MIB
        )
        self.write("a.pickle", [4, 4, 4])
        self.assertEqual(
            client.call("peak", file=self.file)["structuredContent"]["allocated"], 12 * MIB
        )

    def test_devices_and_formulas(self):
        client = self.client()
        devices = client.call("devices", family="ada", memory=">=20GiB")["structuredContent"][
            "devices"
        ]
        self.assertIn("rtx-4090", [device["key"] for device in devices])
        self.assertNotIn("rtx-4070", [device["key"] for device in devices])
        estimate = client.call("estimate", preset="gpt2", settings={"batch": 2})
        self.assertEqual(estimate["structuredContent"]["model"], "gpt2")

    def test_versions_before_structured_content_have_text_alone(self):
        opened = self.client(version="2024-11-05").call("open", file=self.file)
        self.assertNotIn("structuredContent", opened)
        self.assertEqual(json.loads(opened["content"][0]["text"])["kind"], "snapshot")

    def test_long_answers_are_cut_and_say_so(self):
        many = self.write("many.pickle", [2] * 200)
        answer = self.client().call("peak", file=many, by="stack", top=200)["structuredContent"]
        self.assertEqual(len(answer["groups"]), 60)
        self.assertEqual(answer["left_out"]["groups"], 140)

    def test_wrong_arguments_are_named(self):
        client = self.client()
        for arguments, words in (
            ({}, ["file"]),
            ({"file": 7}, ["file", "string"]),
            ({"file": self.file, "by": "colour"}, ["by", "module"]),
            ({"file": self.file, "top": 0}, ["top", "1"]),
            ({"file": self.file, "top": 1 << 64}, ["top"]),
            ({"file": self.file, "nothing": 1}, ["nothing", "file"]),
            ({"file": ""}, ["path"]),
            ({"file": "a\0b"}, ["zero byte"]),
            ({"file": os.path.join(self.folder, "missing")}, ["missing"]),
            ({"file": self.file, "at": "--help"}, ["--at"]),
            ({"file": "x" * 5000}, ["long"]),
            ({"file": self.file, "at": ""}, ["--at", "empty"]),
            ({"file": self.file, "by": ""}, ["--by", "empty"]),
        ):
            self.refused(client.call("peak", **arguments), *words)
        self.refused(client.call("plan", preset="gpt2", device=""), "--device", "empty")
        # An empty value of this argument is valid: it means PyTorch's default settings.
        self.assertFalse(client.call("explain", file=self.file, alloc_conf="")["isError"])

    def test_no_argument_is_taken_for_an_option_or_standard_input(self):
        client = self.client()
        for name in ("-", "--help", "--context=0"):
            self.refused(client.call("open", file=name), name)

    def test_files_outside_of_its_folders_are_refused(self):
        inside = os.path.join(self.folder, "inside")
        os.mkdir(inside)
        link = os.path.join(inside, "link.pickle")
        os.symlink(self.file, link)
        client = self.client("--folder", inside)
        own = self.write("inside/own.pickle", [8])
        self.assertFalse(client.call("open", file=own)["isError"])
        for path in (self.file, link, os.path.join(inside, "..", "a.pickle"), inside + "side"):
            self.refused(client.call("open", file=path), "--folder")

    def test_programs_are_planned_where_that_is_allowed_alone(self):
        self.refused(
            self.client().call("plan", program=["touch", os.path.join(self.folder, "made")]),
            "--programs",
        )
        self.assertFalse(os.path.exists(os.path.join(self.folder, "made")))
        self.refused(self.client("--programs").call("plan", program=["true"]), "torch")

    def program(self, text):
        path = os.path.join(self.folder, "train.py")
        with open(path, "w") as file:
            file.write(text)
        return [sys.executable, path]

    def fake(self, *options):
        """Returns a client that runs programs with tests/emulated/fake_torch in place of torch."""
        return self.client(
            "--programs",
            *options,
            PYTHONPATH=os.path.join(HERE, "..", "emulated", "fake_torch"),
            VRAMSCOPE_PROGRAM_HOOKS="none",
            PYTHONDONTWRITEBYTECODE="1",
        )

    def test_other_tools_read_the_trace_of_a_plan(self):
        client = self.fake()
        command = self.program(
            'import torch\nprint(\'{"jsonrpc": "2.0"}\', flush=True)\ntorch.allocate(8 << 20)\n'
        )
        plan = client.call("plan", program=command, device="h100-sxm")
        self.assertFalse(plan["isError"], plan)
        answer = plan["structuredContent"]
        self.assertEqual(answer["device"], "h100-sxm")
        peak = client.call("peak", file=answer["trace"])["structuredContent"]
        self.assertEqual(peak["allocated"], answer["peak"]["allocated"])
        client.close()
        self.assertFalse(os.path.exists(answer["trace"]))

    def test_a_trace_is_kept_and_no_file_overwritten(self):
        client = self.fake()
        command, kept = (
            self.program("import torch\ntorch.allocate(8 << 20)\n"),
            os.path.join(self.folder, "kept.trace"),
        )
        self.assertEqual(
            client.call("plan", program=command, save_as=kept)["structuredContent"]["trace"], kept
        )
        self.refused(client.call("plan", program=command, save_as=kept), "exists")

    def test_a_program_runs_in_a_folder(self):
        client = self.fake()
        plan = client.call(
            "plan",
            program=[sys.executable, "train.py"],
            folder=os.path.dirname(self.program("import torch\ntorch.allocate(8 << 20)\n")[1]),
        )
        self.assertFalse(plan["isError"], plan)
        self.refused(
            client.call("plan", program=["true"], folder=os.path.join(self.folder, "missing")),
            "folder",
        )

    def test_a_program_that_fails_says_why(self):
        self.refused(
            self.fake().call(
                "plan",
                program=self.program(
                    "import torch\ntorch.allocate(8 << 20)\nraise ValueError('no such batch')\n"
                ),
            ),
            "no such batch",
        )

    def test_a_plan_is_cancelled(self):
        client = self.fake()
        number = client.begin(
            "tools/call",
            name="plan",
            arguments={"program": self.program("import time\ntime.sleep(10000)\n")},
            _meta={"progressToken": "t"},
        )
        progress = client.receive()  # the program is running
        self.assertEqual(progress["method"], "notifications/progress")
        self.assertEqual(progress["params"]["progressToken"], "t")
        waiting = client.begin("tools/call", name="devices", arguments={})
        client.send(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": waiting},
            }
        )
        client.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
        )
        last = client.begin("ping")
        seen = []
        while not seen or seen[-1] != last:
            message = client.receive()
            seen += [message["id"]] if "id" in message else []
        self.assertEqual(seen, [last])  # the two cancelled requests have no response
        self.assertIn("result", client.ask("tools/call", name="devices", arguments={}))

    def test_when_the_client_disconnects_nothing_keeps_running(self):
        client = self.fake()
        mark = os.path.join(self.folder, "train.py")
        client.begin(
            "tools/call",
            name="plan",
            arguments={"program": self.program("import time\ntime.sleep(10000)\n")},
            _meta={"progressToken": 1},
        )
        self.assertEqual(client.receive()["method"], "notifications/progress")
        self.assertEqual(client.close(), 0)
        self.assertNotIn(
            mark, subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        )

    def test_no_window_without_a_display(self):
        self.refused(
            self.client(DISPLAY="", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="").call(
                "show", file=self.file
            ),
            "display",
        )

    def test_when_ended_by_a_signal_it_prints_nothing(self):
        client = self.client()
        client.process.send_signal(signal.SIGTERM)
        self.assertIsNone(client.receive())


if __name__ == "__main__":
    unittest.main(verbosity=1)
