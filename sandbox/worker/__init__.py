"""Workers (engines): processes that hold live simulations, execute commands and draw panels.

The web process sends jobs to a worker and executes no command itself. So a command that takes long, or reaches the
memory limit, only affects its own sandbox: its process can be stopped or killed, and its simulation is replayed.

``jobs`` are the functions that a worker offers, ``process`` is its loop, ``nursery`` starts it. The web process' side
is ``sandbox.pool``.
"""
