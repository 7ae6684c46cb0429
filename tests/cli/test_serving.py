"""The dashboard's server answers browsers on this machine, with files of its folder and nothing else."""

import http.client
import subprocess
import sys
import threading

import pytest

from icpo.cli.serving import server
from tests.report.stored_runs import MadeUpCell


@pytest.fixture
def ask(tmp_path):
    """Asks for a path under a Host header; the status and the body."""
    pages = tmp_path / "dashboard"
    (pages / "data").mkdir(parents=True)
    (pages / "index.html").write_text("the page")
    (pages / "data" / "a.js").write_text("data")
    (tmp_path / "secret.txt").write_text("secret")
    (pages / "link.txt").symlink_to(tmp_path / "secret.txt")
    (pages / "up").symlink_to(tmp_path)
    with server(pages, 0) as serving:
        port = serving.server_address[1]
        threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()

        def ask(path, host="127.0.0.1:{port}"):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.putrequest("GET", path, skip_host=True)
            if host is not None:
                connection.putheader("Host", host.format(port=port))
            connection.endheaders()
            response = connection.getresponse()
            return response.status, response.read().decode()

        yield ask
        serving.shutdown()


def test_pages_are_served_under_the_names_of_this_machine(ask):
    assert ask("/") == (200, "the page")
    assert ask("/data/a.js?x=1", "localhost:{port}") == (200, "data")


@pytest.mark.parametrize("host", ["evil.example:{port}", "127.0.0.1.evil.example", "", None, "evil.example"])
def test_a_page_that_calls_this_machine_by_another_name_is_refused(ask, host):
    status, body = ask("/", host)
    assert status in (400, 421) and "the page" not in body


@pytest.mark.parametrize(
    "path", ["/link.txt", "/up/secret.txt", "/../secret.txt", "/%2e%2e/secret.txt", "/data/", "/up/"]
)
def test_folders_are_not_listed_and_nothing_outside_is_served(ask, path):
    status, body = ask(path)
    assert status == 404 and "secret" not in body and "a.js" not in body


@pytest.mark.parametrize("words", ["--serve --port 99999", "--max-questions -1"])
def test_numbers_that_cannot_be_are_refused(tmp_path, words):
    MadeUpCell().write(tmp_path, "run")
    command = [sys.executable, "-m", "icpo", "dashboard", "run", "--outputs", str(tmp_path), *words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
