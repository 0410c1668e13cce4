# SPDX-License-Identifier: Apache-2.0
"""
LLVM source to machine code of this computer, and machine code into memory.

The compiler is LLVM, by llvmlite. The front end of numba, which uses llvmlite as well, takes more
than ten times as long for the same statements (docs/benchmarks.md).

NUMBA_CPU_NAME and NUMBA_CPU_FEATURES, if both are set, name another processor than the one found,
for numba as for us.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True)
class LoadedFunction:
    """
    A function in memory, for as long as this object lives.

    :param address: where it starts.
    :param engine: what keeps it there.
    """

    address: int
    engine: Any


class Machine:
    """This computer: its instructions, and how to compile for it."""

    def __init__(self) -> None:
        """Ask LLVM what this computer can do."""
        from llvmlite import binding

        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        self._llvm = binding
        self._cpu, self._features = _named_processor() or _own_processor()
        features = self._features.split(',')
        #: Doubles that one instruction handles.
        self.width = 8 if '+avx512f' in features else 4 if '+avx' in features else 2

    def _target(self) -> Any:
        """Return a new target: an engine takes it over and frees it."""
        return self._llvm.Target.from_default_triple().create_target_machine(
            cpu=self._cpu, features=self._features, opt=2, codemodel='jitdefault')

    def compile(self, source: str) -> bytes:
        """Return an object file."""
        module = self._llvm.parse_assembly(source)
        module.verify()
        return bytes(self._target().emit_object(module))

    def load(self, object_code: bytes, name: str) -> LoadedFunction:
        """Return a function of an object file, ready to be called."""
        engine = self._llvm.create_mcjit_compiler(self._llvm.parse_assembly(''), self._target())
        engine.add_object_file(self._llvm.ObjectFileRef.from_data(object_code))
        engine.finalize_object()
        return LoadedFunction(engine.get_function_address(name), engine)


def _named_processor() -> tuple[str, str] | None:
    """Return name and features of a processor from the environment."""
    name, features = (os.environ.get(f'NUMBA_CPU_{what}') for what in ('NAME', 'FEATURES'))
    return None if name is None or features is None else (name, features)


def _own_processor() -> tuple[str, str]:
    from llvmlite import binding

    name: str = binding.get_host_cpu_name()
    try:
        return name, binding.get_host_cpu_features().flatten()
    except RuntimeError:  # LLVM does not know for every processor
        return name, ''


@lru_cache(maxsize=1)
def this_machine() -> Machine:
    """Return the computer; asked once."""
    return Machine()


#: Functions in memory, by the digest of their source and their name; the oldest first.
_LOADED: dict[tuple[bytes, str], LoadedFunction] = {}
_MOST_LOADED = 32
_LOADING = threading.Lock()


def loaded_function(source: str, name: str) -> LoadedFunction:
    """
    Return a function of LLVM source, compiled once per process.

    A robot that is loaded again, such as by every call of `identify`, is not compiled again.
    """
    key = sha256(source.encode()).digest(), name
    with _LOADING:
        found = _LOADED.pop(key, None)
        if found is None:
            machine = this_machine()
            found = machine.load(machine.compile(source), name)
        _LOADED[key] = found
        if len(_LOADED) > _MOST_LOADED:
            del _LOADED[next(iter(_LOADED))]
    return found


@lru_cache(maxsize=1)
def why_not() -> str:
    """Return why there is no compiler on this computer; empty if there is one."""
    if find_spec('llvmlite') is None:
        return 'llvmlite is not installed (pip install llvmlite)'
    try:
        this_machine().compile('define double @probe(ptr %x) {\n  %y = load double, ptr %x\n'
                               '  ret double %y\n}')
    except (ImportError, RuntimeError) as error:
        return f'llvmlite is too old or broken (pip install --upgrade llvmlite): {error}'
    return ''
