# SPDX-License-Identifier: Apache-2.0
"""An array for the duration of a call: on the stack, or on the heap if it is large."""

from __future__ import annotations

from robot_dynamics_ros.codegen.llvm.values import Lines

#: The array starts where a line of the cache does [bytes].
_ALIGNED = 64

#: Larger arrays are on the heap [doubles].
_LARGE = 8192

#: What a module has to declare besides its functions.
DECLARATIONS = ('declare ptr @malloc(i64)', 'declare void @free(ptr)',
                'declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)',
                'declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)')


def new_memory(lines: Lines, doubles: int) -> None:
    """Make ``%work``, not initialised; return 1 without memory. The code goes on at ``ready``."""
    if doubles <= _LARGE:
        lines.add(f'%work = alloca double, i64 {doubles}, align {_ALIGNED}')
        lines.add('br label %ready')
        lines.text.append('ready:')
        return
    lines.add(f'%memory = call ptr @malloc(i64 {8 * doubles + _ALIGNED})')
    lines.add('%got = icmp ne ptr %memory, null')
    lines.add('br i1 %got, label %ready, label %none')
    lines.text.append('none:')
    lines.add('ret i32 1')
    lines.text.append('ready:')
    address = lines.new('ptrtoint ptr %memory to i64')
    above = lines.new(f'add i64 {address}, {_ALIGNED - 1}')
    lines.add(f'%work = inttoptr i64 {lines.new(f"and i64 {above}, {-_ALIGNED}")} to ptr')


def free(lines: Lines, doubles: int) -> None:
    """Give the array back; parameters as for `new_memory`."""
    if doubles > _LARGE:
        lines.add('call void @free(ptr %memory)')
