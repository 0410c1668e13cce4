# SPDX-License-Identifier: Apache-2.0
"""
A viser server that serves only who knows the address that was printed.

The address ends with a random token. A request without it gets nothing, neither the page nor the
connection that carries the scene and the buttons; nor does one whose Host or Origin is another
machine's (a page of another site that was opened in the same browser). viser's public sharing of
a page is switched off.
"""

from __future__ import annotations

import hmac
import io
import ipaddress
import secrets
import socket
from collections.abc import Callable
from contextlib import redirect_stdout
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakSet

from robot_dynamics_ros.errors import ViewError

LOCALHOST = '127.0.0.1'

#: Pages that may be open at the same time.
MOST_PAGES = 16

#: Random bytes of a token.
_TOKEN_BYTES = 16

#: Ports that are tried after the one that was asked for.
_MORE_PORTS = 20


class Guard:
    """
    Decides which requests are answered.

    :param token: first part of every path that is answered.
    :param address: address that the server listens on.
    """

    def __init__(self, token: str, address: str) -> None:
        self._token = token.encode()
        self._hosts = {address.lower(), *(('localhost',) if is_local(address) else ())}
        self._everywhere = address in ('0.0.0.0', '::')

    def path(self, path: str, host: str | None, origin: str | None) -> str | None:
        """
        Return the path without the token; None for a request that must not be answered.

        :param path: path that was asked for, with the token.
        :param host: header Host.
        :param origin: header Origin; None where the browser sends none.
        """
        first, _, rest = path.removeprefix('/').partition('?')[0].partition('/')
        right = hmac.compare_digest(first.encode(errors='replace'), self._token)
        if not right or not self._named(f'//{host or ""}'):
            return None
        if origin is not None and not (
                origin.startswith('http://') and self._named(origin)
                and urlsplit(origin).netloc == host):
            return None
        return f'/{rest}'

    def _named(self, address: str) -> bool:
        try:
            name = (urlsplit(address).hostname or '').lower()
        except ValueError:
            return False
        return bool(name) and (self._everywhere or name in self._hosts)


def is_local(address: str) -> bool:
    """Return whether only programs of this machine reach an address."""
    try:
        return address == 'localhost' or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


class GuardedServer:
    """
    A running viser server; `close` it, or use it in a `with` block.

    :param port: port to listen on, or one of the next; 0 = any.
    :param address: address to listen on.
    :raises ViewError: viser is not installed, or nothing can be served there.
    """

    def __init__(self, *, port: int = 8080, address: str = LOCALHOST) -> None:
        try:
            import viser
            import websockets.asyncio.server as websockets_server
        except ImportError:
            raise ViewError('viser is not installed; `pip install robot_dynamics_ros[view]`, or '
                            '`pip install viser`') from None
        self.token = secrets.token_hex(_TOKEN_BYTES)
        self._pages: WeakSet[Any] = WeakSet()  # their connections
        guard = Guard(self.token, address)
        port = _free_port(address, port)
        guarded = []
        plain_serve = websockets_server.serve

        def serve(handler: Any, host: str, number: int, *, process_request: Any,
                  **options: Any) -> Any:
            guarded.append(number)
            return plain_serve(handler, host, number, process_request=self._checked(
                guard, process_request), **options)

        # viser has no door for this; only its own server is made meanwhile
        websockets_server.serve = serve  # type: ignore[assignment,misc]
        try:
            with redirect_stdout(io.StringIO()):  # its own message has no token
                self.viser: Any = viser.ViserServer(address, port, verbose=False)
        finally:
            websockets_server.serve = plain_serve  # type: ignore[misc]
        if not guarded:
            self.close()
            raise ViewError(f'viser {viser.__version__} cannot be guarded; install the version '
                            'that this package names')
        self._forbid_sharing()
        shown = f'[{address}]' if ':' in address else address
        #: What to open in a browser.
        self.url = f'http://{shown}:{self.viser.get_port()}/{self.token}/'

    def _checked(self, guard: Guard, process_request: Callable[[Any, Any], Any]
                 ) -> Callable[[Any, Any], Any]:
        def check(connection: Any, request: Any) -> Any:
            path = guard.path(request.path, request.headers.get('Host'),
                              request.headers.get('Origin'))
            if path is None:
                return connection.respond(403, 'Open the whole address that was printed.\n')
            if (request.headers.get('Upgrade') or '').lower() == 'websocket':
                # viser counts a page only after its first message
                if sum(each.state.name != 'CLOSED' for each in self._pages) >= MOST_PAGES:
                    return connection.respond(503, 'Too many pages are open.\n')
                self._pages.add(connection)
            request.path = path
            answer = process_request(connection, request)
            if answer is not None:
                answer.headers['Referrer-Policy'] = 'no-referrer'
                answer.headers['X-Frame-Options'] = 'DENY'
                answer.headers['X-Content-Type-Options'] = 'nosniff'
                answer.headers['Cache-Control'] = 'no-store'
            return answer
        return check

    def _forbid_sharing(self) -> None:
        """Let no page ask viser to publish itself on the internet."""
        from viser import _messages

        for request in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
            self.viser._websock_server.unregister_handler(request)

    def close(self) -> None:
        """Stop serving."""
        with redirect_stdout(io.StringIO()):
            self.viser.stop()

    def __enter__(self) -> GuardedServer:
        """Return itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        """Stop serving."""
        self.close()


def _free_port(address: str, port: int) -> int:
    """
    Return the first port that can be listened on.

    :raises ViewError: the address is not one of this machine, or all ports are taken.
    """
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    for candidate in ([0] if port == 0 else range(port, min(port + _MORE_PORTS, 65536))):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((address, candidate))
                return int(probe.getsockname()[1])
        except OSError as error:
            reason = error.strerror or str(error)
        except (OverflowError, TypeError) as error:
            reason = str(error)
    raise ViewError(f'{address}: cannot serve a page at port {port} or the next ones: {reason}')
