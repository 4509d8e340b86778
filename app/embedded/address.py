"""Whether the web server's address can be used, and whether it answers."""

from __future__ import annotations

import errno
import http.client
import socket

from app.config import EVERYWHERE
from app.errors import ConfigurationError


def check_address(host: str, port: int) -> None:
    """Check that the web server will be able to listen.

    Raises:
        ConfigurationError: it will not; the text names the setting and what to do.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen()
    except socket.gaierror:
        raise ConfigurationError(f"HOST: this machine has no address {host}") from None
    except OSError as error:
        raise ConfigurationError(_reason(host, port, error)) from None


def _reason(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"PORT: {port} on {host} is used by another program;"
            f" stop it or choose another, as in: PORT={min(port + 1, 65535)} make run"
        )
    if error.errno == errno.EACCES:
        return f"PORT: {port} is reserved for the system's administrator; choose one above 1023"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"HOST: this machine has no address {host}"
    return f"HOST, PORT: cannot listen on {host}:{port}: {error.strerror}"


def answers(host: str, port: int, path: str) -> bool:
    """True when the web server answers `path` with 200 within a second."""
    connection = http.client.HTTPConnection(EVERYWHERE.get(host, host), port, timeout=1)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
