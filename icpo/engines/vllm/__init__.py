"""The vLLM engine, in this process."""
