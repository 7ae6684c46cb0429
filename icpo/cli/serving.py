"""Serves the pages of a dashboard on this machine alone."""

import logging
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

logger = logging.getLogger("icpo")
HOST = "127.0.0.1"
HOST_NAMES = (HOST, "localhost")


class PageHandler(SimpleHTTPRequestHandler):
    """Files of one folder, asked for by the name of this machine.

    A page elsewhere whose name was made to mean this machine (DNS rebinding) sends its own name as Host and
    is refused. Folders are not listed and links that lead out of the folder are not followed.
    """

    def send_head(self) -> Any:
        """Checks the request before a file is opened."""
        host, _, _ = self.headers.get("Host", "").rpartition(":")
        if host not in HOST_NAMES:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "Ask for 127.0.0.1 or localhost")
            return None
        root, path = Path(self.directory).resolve(), Path(self.translate_path(self.path)).resolve()
        if not path.is_relative_to(root):
            self.send_error(HTTPStatus.NOT_FOUND, "File not found")
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> Any:
        """Refuses to list a folder."""
        self.send_error(HTTPStatus.NOT_FOUND, "File not found")
        return None

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server of a folder on 127.0.0.1; port 0 is any."""
    return ThreadingHTTPServer((HOST, port), partial(PageHandler, directory=str(folder)))


def serve(folder: Path, port: int) -> None:
    """Serves a folder on 127.0.0.1 until interrupted."""
    with server(folder, port) as serving:
        logger.info("Serving on http://%s:%d (Ctrl-C ends)", HOST, serving.server_address[1])
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            logger.info("Stopped.")
