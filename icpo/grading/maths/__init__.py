"""A reader of mathematical answers: text to an exact form. It knows nothing of language models."""
