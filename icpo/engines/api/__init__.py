"""The engine for servers that speak the OpenAI API."""
