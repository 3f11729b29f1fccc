"""Workers: processes that hold simulations, execute commands and draw panels. They know no HTTP."""
