# SPDX-License-Identifier: Apache-2.0
import http.client
from urllib.parse import urlsplit

import pytest

viser = pytest.importorskip('viser', reason='viser is not installed')
from websockets.exceptions import InvalidStatus  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from robot_dynamics_ros.errors import ViewError  # noqa: E402
from robot_dynamics_ros.view import guarded_server  # noqa: E402
from robot_dynamics_ros.view.guarded_server import (  # noqa: E402
    Guard,
    GuardedServer,
    is_local,
)

HOST = '127.0.0.1:8080'


@pytest.fixture(scope='module')
def server():
    with GuardedServer(port=0) as running:
        yield running


def get(server, path, **headers):
    """Return status and headers of a request."""
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=240)
    connection.request('GET', path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders())


def socket(server, path, **options):
    parts = urlsplit(server.url)
    return connect(f'ws://{parts.netloc}{path}', open_timeout=240,
                   subprotocols=[f'viser-v{viser.__version__}'], **options)


@pytest.mark.parametrize(('path', 'host', 'origin', 'answer'), [
    ('/secret/', HOST, None, '/'),
    ('/secret', HOST, f'http://{HOST}', '/'),
    ('/secret/a/b.js?x=/c', 'localhost:8080', 'http://localhost:8080', '/a/b.js'),
    ('/', HOST, None, None),
    ('/secrets/', HOST, None, None),
    ('/secre/', HOST, None, None),
    ('/?secret/', HOST, None, None),
    ('/\u00e9\ud800/', HOST, None, None),
    ('/secret/', 'evil.example:8080', None, None),  # DNS that was bound anew
    ('/secret/', '', None, None),
    ('/secret/', None, None, None),
    ('/secret/', '[bad', None, None),
    ('/secret/', HOST, 'http://evil.example', None),  # a page of another site
    ('/secret/', HOST, 'null', None),
    ('/secret/', HOST, 'http://localhost:9090', None),  # another server of this machine
    ('/secret/', HOST, 'https://127.0.0.1:8080', None),
])
def test_only_the_printed_address_is_answered(path, host, origin, answer):
    assert Guard('secret', '127.0.0.1').path(path, host, origin) == answer


def test_a_page_for_other_machines_is_still_guarded_by_token_and_origin():
    guard = Guard('secret', '0.0.0.0')
    assert guard.path('/secret/', 'robot.local:8080', 'http://robot.local:8080') == '/'
    assert guard.path('/secret/', 'robot.local:8080', 'http://evil.example') is None
    assert guard.path('/', 'robot.local:8080', None) is None


def test_the_page_is_served_to_who_knows_the_token(server):
    status, headers = get(server, f'/{server.token}/')
    assert status == 200 and headers['Content-Type'].startswith('text/html')
    assert headers['Referrer-Policy'] == 'no-referrer' and headers['X-Frame-Options'] == 'DENY'
    with socket(server, f'/{server.token}') as connection:
        assert connection.recv(20.0)


@pytest.mark.parametrize('path', ['/', '/index.html', '/wrong/', '//'])
def test_nobody_else_gets_page_or_connection(server, path):
    assert get(server, path)[0] == 403
    with pytest.raises(InvalidStatus, match='403'), socket(server, path):
        pass


def test_a_page_of_another_site_gets_no_connection(server):
    with pytest.raises(InvalidStatus, match='403'), socket(
            server, f'/{server.token}', origin='http://evil.example'):
        pass
    assert get(server, f'/{server.token}/', Host='evil.example')[0] == 403


def test_no_file_beside_the_page_is_served(server):
    for path in ('../../../../etc/passwd', '%2e%2e/%2e%2e/_viser.py', '..\\_viser.py',
                 '/etc/passwd'):
        assert get(server, f'/{server.token}/{path}')[0] == 404


def test_the_page_listens_on_this_machine_only_and_cannot_be_shared(server):
    assert server.viser.get_host() == '127.0.0.1'
    assert server.url.startswith('http://127.0.0.1:')
    handlers = server.viser._websock_server._incoming_handlers
    assert not any('Share' in message.__name__ for message in handlers)


def test_pages_that_say_nothing_count_too(monkeypatch):
    """Viser counts a page after its first message: 25 of 16 were let in."""
    monkeypatch.setattr(guarded_server, 'MOST_PAGES', 2)
    with GuardedServer(port=0) as own, socket(own, f'/{own.token}'), socket(own, f'/{own.token}'):
        with pytest.raises(InvalidStatus, match='503'), socket(own, f'/{own.token}'):
            pass
        assert get(own, f'/{own.token}/')[0] == 200


def test_every_server_has_a_token_of_its_own(server):
    with GuardedServer(port=0) as other:
        assert other.token != server.token
        assert len(other.token) >= 32


def test_a_taken_port_is_left_alone(server):
    port = urlsplit(server.url).port
    with GuardedServer(port=port) as other:
        assert port < urlsplit(other.url).port < port + 20


def test_nothing_but_the_address_is_printed(capfd):
    with GuardedServer(port=0):
        pass
    assert capfd.readouterr() == ('', '')


@pytest.mark.parametrize('address', ['203.0.113.7', 'no.such.machine.invalid'])
def test_an_address_of_another_machine_is_one_line(address):
    with pytest.raises(ViewError, match=f'{address}: cannot serve a page at'):
        GuardedServer(port=0, address=address)


@pytest.mark.parametrize(('address', 'local'), [
    ('127.0.0.1', True), ('127.3.2.1', True), ('::1', True), ('localhost', True),
    ('0.0.0.0', False), ('192.168.0.2', False), ('robot.local', False), ('', False)])
def test_which_addresses_are_local(address, local):
    assert is_local(address) is local
