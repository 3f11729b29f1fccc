"""How the processes of the site run: threads, the channel layer, memory, log lines, hosts."""
