from pathlib import Path

import pytest

import icpo.backbones
from icpo.lab.nano.batches import load_tokenizer
from icpo.lab.nano.job import prompt_set
from icpo.prompts import Book, IdeaForm

FOLDER = Path(icpo.backbones.__file__).parent / "nano"
ANSWER_LINE = r"Thus, the answer is \(\boxed{{answer}}\)"


@pytest.fixture(scope="session")
def prompts():
    books = [Book(ANSWER_LINE, False, tags, IdeaForm.FULL) for tags in (True, False)]
    return prompt_set(*books)


@pytest.fixture(scope="session")
def nano_folder():
    return FOLDER


@pytest.fixture(scope="session")
def tokenizer():
    return load_tokenizer(FOLDER)
