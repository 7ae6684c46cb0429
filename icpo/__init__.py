"""ICPO: in-context policy optimization, its theory and its test-time scaling experiments."""
