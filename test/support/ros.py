# SPDX-License-Identifier: Apache-2.0
"""Real ROS 2 for one test: a domain of its own, nodes in processes of their own."""

import gc
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import rclpy
from rclpy.executors import SingleThreadedExecutor

TEST_FOLDER = Path(__file__).resolve().parent.parent

#: Longest wait for something that normally takes a fraction of a second [s]; a node that gets a
#: thirtieth of a processor needs minutes to start.
PATIENCE = 240.0
#: What was sent and not answered is sent once more after this time [s].
RESEND = 5.0


class NodeProcess:
    """A Python module running as a process, with its output in a file."""

    def __init__(self, module, arguments, output_path):
        """Start ``python -m module arguments``."""
        self.module = module
        self._output_path = output_path
        path = os.pathsep.join(filter(None, [str(TEST_FOLDER), os.environ.get('PYTHONPATH')]))
        with open(output_path, 'wb') as output:
            self._process = subprocess.Popen(
                [sys.executable, '-m', module, *arguments], stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, 'PYTHONPATH': path, 'PYTHONUNBUFFERED': '1'})

    @property
    def output(self):
        """What the process has printed so far."""
        return self._output_path.read_text(errors='replace')

    @property
    def pid(self):
        """Process id."""
        return self._process.pid

    @property
    def exit_code(self):
        """Exit code, or None while it runs."""
        return self._process.poll()

    @property
    def processor_time(self):
        """What the process has used so far [s]: little = it has hardly begun; '?' = it is gone."""
        try:
            fields = Path(f'/proc/{self.pid}/stat').read_text().rpartition(')')[2].split()
        except OSError:
            return '?'
        return sum(map(int, fields[11:13])) / os.sysconf('SC_CLK_TCK')

    def wait_for_library(self, name, patience=PATIENCE):
        """Wait until the process has loaded a shared library with this in its path."""
        end = time.monotonic() + patience
        while name not in Path(f'/proc/{self._process.pid}/maps').read_text():
            assert self.exit_code is None and time.monotonic() < end, self.output
            time.sleep(0.005)

    def wait(self, patience=PATIENCE):
        """Wait for the process to end by itself and return its exit code."""
        try:
            return self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f'{self.module} did not end within {patience} s:\n{self.output}'
                                 ) from None

    def signal(self, number):
        """Send a signal to the process."""
        self._process.send_signal(number)

    def interrupt(self):
        """End the process as Ctrl-C would and return its exit code."""
        if self.exit_code is None:
            self.signal(signal.SIGINT)
        return self.wait()

    def kill(self):
        """End the process and its children by force."""
        if self.exit_code is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def participants():
    """Return how many participants of Fast DDS live in this process."""
    names = []
    for path in Path('/proc/self/task').glob('*/comm'):
        with suppress(OSError):  # a thread that has ended meanwhile
            names.append(path.read_text())
    return sum(name.startswith('dds.ev') for name in names)


class RosDomain:
    """
    The ROS 2 of one test: a node in the test's process and any number of node processes.

    Waiting is always for something that can be seen (a service, an endpoint, a message), never for
    a time. Everything ends with the test; a process that does not end cleanly fails the test.
    """

    def __init__(self, domain_id, folder):
        """Create the test's own node on the domain; outputs of processes go to `folder`."""
        self._folder = folder
        self._processes = []
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=domain_id,
                   signal_handler_options=rclpy.SignalHandlerOptions.NO)
        self._executor = SingleThreadedExecutor(context=self._context)
        self.node = rclpy.create_node('test', context=self._context)
        self._executor.add_node(self.node)

    def start(self, module, *arguments):
        """Start a module as a process and return its NodeProcess."""
        output = self._folder / f'{len(list(self._folder.iterdir()))}_{module}.txt'
        process = NodeProcess(module, arguments, output)
        self._processes.append(process)
        return process

    def kill(self, process):
        """End a process by force; that it does so uncleanly is no failure."""
        process.kill()
        self._processes.remove(process)

    def forget(self, process):
        """Care no longer how a process has ended."""
        self._processes.remove(process)

    @contextmanager
    def spinning(self, node):
        """Handle the callbacks of another node in this process, too."""
        self._executor.add_node(node)
        try:
            yield
        finally:
            self._executor.remove_node(node)

    def spin_until(self, condition, what, patience=PATIENCE):
        """
        Handle messages until ``condition()`` is true and return what it returned.

        :param what: what is waited for, for the message of the failure.
        """
        end = time.monotonic() + patience
        while not (result := condition()):
            dead = [process for process in self._processes if process.exit_code not in (None, 0)]
            assert not dead, f'{what}: a process has failed\n{self._report()}'
            assert time.monotonic() < end, f'{what}: not within {patience} s\n{self._report()}'
            self._executor.spin_once(timeout_sec=0.02)
        return result

    def send_until(self, send, condition, what):
        """
        Call ``send()`` until ``condition()`` is true, and return what it returned.

        A peer that has not discovered this process yet loses what is sent, or what it answers.
        """
        sent = float('-inf')

        def answered():
            nonlocal sent
            if time.monotonic() - sent > RESEND:
                sent = time.monotonic()
                send()
            return condition()

        return self.spin_until(answered, what)

    def call(self, service_type, name, request):
        """Wait for a service, call it and return its response."""
        client = self.node.create_client(service_type, name)
        try:
            self.spin_until(client.service_is_ready, f'service {name}')
            futures = []
            return self.send_until(
                lambda: futures.append(client.call_async(request)),
                lambda: [future.result() for future in futures if future.done()],
                f'response of {name}')[0]
        finally:
            self.node.destroy_client(client)

    def wait_for_publishers(self, topic, count=1):
        """Wait until a topic has at least `count` publishers."""
        self.spin_until(lambda: self.node.count_publishers(topic) >= count,
                        f'{count} publishers of {topic}')

    def wait_for_subscribers(self, topic, count=1):
        """Wait until a topic has at least `count` subscribers."""
        self.spin_until(lambda: self.node.count_subscribers(topic) >= count,
                        f'{count} subscribers of {topic}')

    def receive(self, message_type, topic, count=1, qos=10):
        """Subscribe, wait for `count` messages and return them."""
        messages = []
        subscription = self.node.create_subscription(message_type, topic, messages.append, qos)
        try:
            self.spin_until(lambda: len(messages) >= count, f'{count} messages on {topic}')
        finally:
            self.node.destroy_subscription(subscription)
        return messages[:count]

    def close(self):
        """End everything; fail when a process ended with another exit code than 0."""
        try:
            failures = []
            for process in self._processes:
                running = process.exit_code is None
                if running and process.interrupt() != 0:
                    failures.append(f'{process.module}: exit code {process.exit_code} after '
                                    f'SIGINT\n{process.output}')
            assert not failures, '\n'.join(failures)
        finally:
            for process in self._processes:
                process.kill()
            self._executor.shutdown()
            self.node.destroy_node()
            rclpy.shutdown(context=self._context)
            if participants():  # nodes that are garbage would meet those of the next test
                gc.collect()

    def _report(self):
        return '\n'.join(f'--- {process.module} (exit code {process.exit_code}, processor time '
                         f'{process.processor_time} s)\n{process.output}'
                         for process in self._processes)
