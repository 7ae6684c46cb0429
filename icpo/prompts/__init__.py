"""Prompt templates and the functions that fill them."""

from icpo.prompts.book import Book, IdeaForm

__all__ = ["Book", "IdeaForm"]
