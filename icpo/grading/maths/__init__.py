"""From mathematical answers to exact forms; knows nothing of language models."""
