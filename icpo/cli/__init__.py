"""The command line: commands, how they end, and their exit status."""
