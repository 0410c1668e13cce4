# SPDX-License-Identifier: Apache-2.0
"""
The Model and what runs when one of its functions is called.

::

    Model ---- Snapshot      parameters in use: values, constants, a Call per function used so far
      |
      +------- Function      one per function, in front of the method with the same name
      |
      +------- Kernels ----- Kernel    one per function and form of the joints, made at first use:
                                       machine code, generated Python, a linear
                                       system made of others, or the loop form

A `Call` is the machine code of one function together with the constants of one Snapshot.

One state, or a batch
    ``model.torque(q, qd, qdd, out=out)`` is the Function. It finds the Call in the Snapshot in
    use, and the Call checks the arrays and runs the kernel. No Python is involved where the C
    extension has been built.

First use; lists, views and other types; wrong shapes
    There is no Call yet, or it declines. The Function calls the method ``Model.torque``. That
    checks and converts the arrays, takes the Kernel (generated and compiled now, if it is new)
    and evaluates it. A machine-code Kernel leaves a Call in the Snapshot: the next call is quick.

A batch in several threads
    ``threads=2`` is not known to the Function: the method splits the batch and runs the same Call
    on every part; kernels of a batch work without the interpreter's lock.

Parameters are replaced
    A new Snapshot is made, with the Calls of all Kernels used so far, and put in place in one
    step. A call that is under way ends with the old one. Nothing is compiled, unless the joints
    have another form (coupling, static friction): its Kernels are made at their first use.

With the backends 'python' and 'numpy' there are no Functions and Calls: methods and Kernels only.
"""
