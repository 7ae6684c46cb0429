"""The commands and code blocks of README and the pages, as a reader would type them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ELSEWHERE = {  # pages whose blocks a test of their own runs
    "docs/extending.md": "tests/end_to_end/test_extending.py",
    "docs/tutorial.md": "tests/docs/test_tutorial.py",
}
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.M | re.S)
INLINE = re.compile(r"`((?:python -m icpo|icpo |make )[^`\n]*)`")
COMMENT = re.compile(r"(?:^|\s+)# .*$", re.M)
SHELL_WORDS = ("for ", "do", "wait", "gpu=", "echo ")


@dataclass(frozen=True)
class Found:
    """A command or a block with the page that holds it."""

    page: str
    text: str

    def __str__(self):
        return f"{self.page}: {self.text}"


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(language):
    """The fenced blocks of a language, in order."""
    return [
        Found(name_of(page), text)
        for page in PAGES
        if name_of(page) not in ELSEWHERE
        for kind, text in BLOCK.findall(page.read_text(encoding="utf-8"))
        if kind == language
    ]


def commands():
    """Every command of a bash block or between backticks, once for each page."""
    found = [Found(block.page, one) for block in blocks("bash") for one in commands_in(block.text)]
    for page in PAGES:
        text = BLOCK.sub("", page.read_text(encoding="utf-8"))
        inline = [one for one in INLINE.findall(text) if "..." not in one]
        found += [Found(name_of(page), one) for text in inline for one in commands_in(text)]
    return list(dict.fromkeys(found))


def commands_in(block):
    """The commands of a block: lines joined, comments, loops and variables before a command left out."""
    joined = COMMENT.sub("", block.replace("\\\n", " "))
    lines = [
        one.strip().rstrip("&").strip() for line in joined.splitlines() for one in re.split("; | && ", line)
    ]
    kept = [one for one in lines if one and not one.startswith(SHELL_WORDS)]
    return [re.sub(r"^(?:[A-Z_]+=\S+ )+", "", one) for one in kept]


def run_names():
    """The runs that pages name, and the words that stand for one."""
    texts = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    return {
        "RUN",
        "RUN_NAME",
        "OTHER",
        "quickstart",
        "main_table",
        *re.findall(r"run_name[=:] ?([a-z_]+)", texts),
    }


def words_of(command):
    """The words of a command as a shell splits them."""
    return shlex.split(command)


def overrides_of(command):
    """What a command gives to a run; None where it runs no preset."""
    words = words_of(command)
    for start in (["icpo", "run"], ["python", "-m", "icpo.run"], ["icpo"]):
        if words[: len(start)] == start and any(word.startswith("+exp=") for word in words):
            return words[len(start) :]
    return None
