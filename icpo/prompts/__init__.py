"""Prompt templates and the functions that fill them; nothing here samples or reads."""

from icpo.prompts.book import Book, IdeaForm

__all__ = ["Book", "IdeaForm"]
