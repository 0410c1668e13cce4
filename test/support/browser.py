# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven by its own protocol: for tests and pictures of pages."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

#: Names of the browser on known systems.
NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')

#: Longest time for starting, loading and anything that is waited for [s].
PATIENCE = 150.0

#: Lets a page draw more seldom.
SLOW = 'window.requestAnimationFrame = f => setTimeout(() => f(performance.now()), %g)'


def browser_path():
    """Return the path of an installed browser, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """A browser without a window, with one page; use it in a `with` block."""

    def __init__(self, width=1280, height=800, scale=1.0, dark=False, fps=None):
        self._size = {'width': width, 'height': height, 'deviceScaleFactor': scale,
                      'mobile': width < 600}
        self._dark, self._fps = dark, fps
        self._number = 0
        self.errors = []

    def __enter__(self):
        from websockets.sync.client import connect

        self._folder = tempfile.TemporaryDirectory(prefix='browser_', ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [browser_path(), '--headless=new', '--no-sandbox', '--use-angle=swiftshader',
             '--enable-unsafe-swiftshader', '--remote-debugging-port=0', '--no-first-run',
             '--disable-dev-shm-usage', f'--user-data-dir={self._folder.name}', 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = Path(self._folder.name) / 'DevToolsActivePort'
        self.wait(lambda: port_file.is_file() and len(port_file.read_text().split()) == 2)
        port, path = port_file.read_text().split()
        self._socket = connect(f'ws://127.0.0.1:{port}{path}', max_size=None)
        self._session = None
        target = self._call('Target.createTarget', url='about:blank')['targetId']
        self._session = self._call('Target.attachToTarget', targetId=target,
                                   flatten=True)['sessionId']
        self._call('Page.enable')
        self._call('Runtime.enable')
        self._call('Emulation.setDeviceMetricsOverride', **self._size)
        if self._fps is not None:  # drawing without a graphics card takes long
            self._call('Page.addScriptToEvaluateOnNewDocument', source=SLOW % (1000 / self._fps))
        if self._dark:
            self._call('Emulation.setEmulatedMedia', features=[
                {'name': 'prefers-color-scheme', 'value': 'dark'}])
        return self

    def __exit__(self, *_):
        self._socket.close()
        self._process.terminate()
        self._process.wait(10.0)
        self._folder.cleanup()

    def _call(self, method, **parameters):
        self._number += 1
        message = {'id': self._number, 'method': method, 'params': parameters}
        if self._session is not None:
            message['sessionId'] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(PATIENCE))
            if answer.get('method') == 'Runtime.exceptionThrown':
                self.errors.append(answer['params']['exceptionDetails'].get('text', ''))
            if answer.get('id') == self._number:
                if 'error' in answer:
                    raise RuntimeError(answer['error']['message'])
                return answer['result']

    def open(self, url):
        """Open an address."""
        self._call('Page.navigate', url=url)

    def evaluate(self, expression):
        """Return the value of a JavaScript expression."""
        answer = self._call('Runtime.evaluate', expression=expression, returnByValue=True,
                            awaitPromise=True)
        if 'exceptionDetails' in answer:
            raise RuntimeError(answer['exceptionDetails'].get('text'))
        return answer['result'].get('value')

    def text(self):
        """Return what can be read on the page."""
        return self.evaluate('document.body ? document.body.innerText : ""')

    def click(self, text):
        """Click what has a text, a button or a tab, with the mouse."""
        x, y = self._place_of(text)
        for kind in ('mousePressed', 'mouseReleased'):
            self._call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left',
                       clickCount=1)

    def _place_of(self, text):
        """Return the middle of what has a text, once it stands still and nothing covers it."""
        places = [None]

        def still():
            places.append(self.evaluate(
                '(() => { const found = [...document.querySelectorAll("*")].filter(each => '
                f'(each.innerText || "").trim() === {json.dumps(text)}).pop();'
                'if (!found) return null; found.scrollIntoView({block: "center"});'
                'const box = found.getBoundingClientRect();'
                'const x = box.x + box.width / 2, y = box.y + box.height / 2;'
                'const top = document.elementFromPoint(x, y);'
                'return top && (found.contains(top) || top.contains(found)) ? [x, y] : null;'
                '})()'))
            return places[-1] is not None and places[-1] == places[-2]
        self.wait(still)
        return places[-1]

    def wait(self, condition, patience=PATIENCE):
        """Wait until a condition holds."""
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError('the browser does not do what is waited for')
            time.sleep(0.05)

    def wait_for(self, text):
        """Wait until a text can be read on the page."""
        self.wait(lambda: text in (self.text() or ''))

    def screenshot(self, path, whole=False):
        """Write what is seen, or the whole page, as PNG."""
        answer = self._call('Page.captureScreenshot', format='png', captureBeyondViewport=whole,
                            **({'clip': self._whole()} if whole else {}))
        Path(path).write_bytes(base64.b64decode(answer['data']))

    def _whole(self):
        size = self._call('Page.getLayoutMetrics')['cssContentSize']
        return {'x': 0, 'y': 0, 'width': size['width'], 'height': size['height'], 'scale': 1}
