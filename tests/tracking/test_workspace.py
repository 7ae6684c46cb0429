import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from icpo.cli.dashboard import main

pytest.importorskip("wandb_workspaces")


VIEWER = {
    "id": "1", "entity": "somebody", "username": "somebody", "email": "", "admin": False, "flags": "{}",
    "teams": {"edges": []}, "apiKeys": {"edges": []},
}  # fmt: skip


class Server(BaseHTTPRequestHandler):
    """A W&B server that knows one user and keeps the views that it is given."""

    def do_POST(self):
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/graphql":  # the client's telemetry, which is no JSON
            return self.send_error(404)
        body = json.loads(content)
        if "upsertView" in body["query"]:
            self.server.views.append(body["variables"])
            self.answer({"upsertView": {"view": {"id": "abc", "name": "view"}, "inserted": True}})
        else:
            self.answer({"viewer": VIEWER})

    def answer(self, data):
        content = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        """Nothing: the tests look at the views."""


@pytest.fixture(autouse=True)
def own_service():
    """W&B's service of earlier tests may be gone; a test begins with one of its own."""
    import wandb

    with suppress(Exception):
        wandb.teardown()


@pytest.fixture
def server(monkeypatch, tmp_path):
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        running.views = []
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("WANDB_BASE_URL", f"http://127.0.0.1:{running.server_address[1]}")
        monkeypatch.setenv("WANDB_API_KEY", "x" * 40)
        monkeypatch.setenv("HOME", str(tmp_path))
        yield running
        running.shutdown()


def test_view_is_saved_for_the_cells_of_the_run(server):
    assert main(["wandb", "quickstart", "--project", "mine"]) == 0
    [view] = server.views
    names = view["entityName"], view["projectName"], view["displayName"]
    assert names == ("somebody", "mine", "ICPO quickstart")
    spec = view["spec"]
    assert all(f"{name}.value" in spec for name in ("mean_at_k", "accuracy", "majority_at_k", "pass_at_k"))
    assert '"quickstart"' in spec


@pytest.mark.slow  # wandb tries for a while
def test_a_server_that_is_not_there_is_named_with_the_way_out(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("WANDB_API_KEY", "x" * 40)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["wandb", "quickstart", "--entity", "somebody"]) == 2
    assert "python -m icpo.dashboard quickstart" in caplog.text
