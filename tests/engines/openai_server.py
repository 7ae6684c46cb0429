"""An HTTP server on loopback that speaks what the engine uses of the OpenAI API and misbehaves as told."""

import json
import os
import socket
import struct
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

PROMPT_TOKENS = 11
COMPLETION_TOKENS = 5
SLOW_SECONDS = 1.5
FAULTS = (
    "429",
    "429 retry-after",
    "500",
    "503",
    "reset",
    "slow",
    "half json",
    "short body",
    "html",
    "empty choices",
    "fewer choices",
    "more choices",
    "content filter",
)


class Server(ThreadingHTTPServer):
    """`plan(body)` names the fault of a request, or None; `served` holds every text that was given."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, plan=lambda body: None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan = plan
        self.lock = threading.Lock()
        self.requests = []
        self.served = []
        self.injected = Counter()
        self.good_replies = Counter()
        self.num_open = self.max_open = 0
        self.serial = count()
        self.thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __exit__(self, *exc):
        self.shutdown()
        self.thread.join()
        super().__exit__(*exc)


def after(seconds):
    """A good reply that takes so long."""

    def answer(handler, body):
        time.sleep(seconds)
        handler.reply(200, handler.completion(body, body.get("n", 1)))

    return answer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.requests.append((self.path, self.headers, body, time.monotonic()))
            fault = server.plan(body)
            server.injected[fault] += 1
            server.num_open += 1
            server.max_open = max(server.max_open, server.num_open)
        try:
            self.answer(fault, body)
        finally:
            with server.lock:
                server.num_open -= 1

    def answer(self, fault, body):
        if callable(fault):
            fault(self, body)
        elif fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            os.close(
                self.connection.detach()
            )  # files still hold the socket: a mere close would leave it open
        elif fault in ("429", "500", "503"):
            self.reply(int(fault), {"error": {"message": "try again", "code": fault}})
        elif fault == "429 retry-after":
            self.reply(429, {"error": {"message": "slow down"}}, {"Retry-After": "1"})
        elif isinstance(fault, tuple):
            status, message = fault
            self.reply(status, {"error": {"message": message, "code": status}})
        elif fault == "slow":
            time.sleep(SLOW_SECONDS)
            self.reply(200, self.completion(body, body.get("n", 1)))
        elif fault == "half json":
            self.send(200, json.dumps(self.completion(body, 1)).encode()[:-30])
        elif fault == "short body":
            self.send(200, json.dumps(self.completion(body, 1)).encode()[:-30], missing=30)
        elif fault == "html":
            self.send(200, b"<html>welcome to the proxy</html>", kind="text/html")
        elif fault == "empty choices":
            self.reply(200, self.completion(body, 0))
        elif fault == "content filter":
            self.reply(200, self.completion(body, body.get("n", 1), reason="content_filter", text=None))
        else:
            change = {"fewer choices": -1, "more choices": 1}.get(fault, 0)
            self.good(body, max(1, body.get("n", 1) + change))

    def good(self, body, num):
        reply = self.completion(body, num)
        with self.server.lock:
            self.server.good_replies[self.headers["Idempotency-Key"]] += 1
        self.reply(200, reply)

    def completion(self, body, num, reason="stop", text=""):
        is_chat = self.path.endswith("/chat/completions")
        prompt = body["messages"][-1]["content"] if is_chat else body["prompt"]
        choices = []
        for index in range(num):
            said = None if text is None else f"{prompt}#{next(self.server.serial)}"
            content = {"message": {"role": "assistant", "content": said}} if is_chat else {"text": said}
            choices.append({"index": index, "finish_reason": reason, **content})
            self.server.served.append(said)
        usage = {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS * num}
        return {"id": "x", "object": "completion", "choices": choices, "usage": usage}

    def reply(self, status, content, headers=()):
        self.send(status, json.dumps(content).encode(), headers=headers)

    def send(self, status, data, kind="application/json", missing=0, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) + missing))
        for name, value in dict(headers).items():
            self.send_header(name, value)
        if missing:
            self.close_connection = True
        self.end_headers()
        self.wfile.write(data)

    def hang_up(self, data=b""):
        """Sends these bytes instead of a reply and closes the connection."""
        self.wfile.write(data)
        self.close_connection = True

    def handle(self):
        with suppress(OSError, ValueError):  # the client has gone, or the fault was to close on it
            super().handle()

    def log_message(self, *args):
        pass
