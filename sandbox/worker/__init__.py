"""The engines: processes that hold the live simulations, and the way of the site to them.

The site never executes a command itself. It asks a process that does nothing else, so that a command that takes long,
or takes all the memory it may, is the trouble of its own sandbox alone: it can be stopped or killed, and what was lost
is replayed from the log.

``jobs`` is what can be asked, ``process`` the loop of one engine, ``pool`` the site's side, ``turns`` who may ask now.
"""
