"""Classes that a configuration names: allowed ones and their source."""

import ast
import hashlib
import importlib
import inspect
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from hydra._internal.utils import _locate
from pydantic import ValidationError
from pydantic.dataclasses import is_pydantic_dataclass

from icpo.config.messages import describe, did_you_mean
from icpo.config.source import files_below
from icpo.errors import ConfigError
from icpo.types.validated import check_values

OWN_PACKAGE = "icpo."
HYDRA_KEYS = ("_target_", "_args_", "_convert_", "_partial_", "_recursive_")
_IMPORTING = (importlib.__file__, _locate.__code__.co_filename)  # where an import is called


def nodes(node: Any, path: str = "config") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The nodes of a configuration that name a class, by path."""
    if isinstance(node, Mapping):
        if "_target_" in node:
            yield path, node
        for key, child in node.items():
            yield from nodes(child, f"{path}.{key}")
    elif isinstance(node, list):
        for i, child in enumerate(node):
            yield from nodes(child, f"{path}[{i}]")


def targets(node: Any) -> Iterator[tuple[str, str]]:
    """Where in a configuration a class is named, and its name."""
    return ((path, str(one["_target_"])) for path, one in nodes(node))


@cache
def own_class(target: str) -> type | None:
    """The class of that name if this project defines it."""
    module, _, name = target.rpartition(".")
    if not module.startswith(OWN_PACKAGE):
        return None
    try:
        found = getattr(import_module(module), name, None)
    except ModuleNotFoundError:
        return None
    return found if isinstance(found, type) and found.__module__.startswith(OWN_PACKAGE) else None


def check_target(path: str, target: str, allowed: Sequence[str]) -> None:
    """Refuses an outside class that is not allowed. Raises ConfigError."""
    if own_class(target) is not None:
        return
    if not any(target == name or target.startswith(f"{name}.") for name in allowed):
        one, package = (
            f"++allow_targets=[{','.join(map(ascii, [*allowed, name]))}]"
            for name in (target, target.partition(".")[0])
        )
        raise ConfigError(
            f"{path}._target_ is {target!r}, which is no class of this project. If you trust it, allow it by "
            f"name, {one}, or all of its package, {package}"
        )


def located(target: str) -> Any:
    """The class or function of that name; its module is imported.

    Raises:
        ConfigError: there is none, or its module cannot be imported; with the place of the error.
    """
    try:
        return _locate(target)
    except (ImportError, ValueError) as error:
        raise ConfigError(f"_target_ {target!r}: {_reason(target, error.__cause__ or error)}") from None


def check_node(path: str, node: Mapping[str, Any]) -> None:
    """Refuse keys and values that a node's class does not take.

    A class made with `validated` checks its values itself when it is built.

    Raises:
        ConfigError: naming the node, the key, and what the class takes.
    """
    name, kind = path.rpartition(".")[2], located(str(node["_target_"]))
    try:
        parameters = _parameters(kind)
    except (TypeError, ValueError):  # not callable, which Hydra reports; or without a signature
        return
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return
    for key in node:
        if key not in parameters and key not in HYDRA_KEYS:
            hint = did_you_mean(key, parameters)
            raise ConfigError(
                f"{name} has no {key!r}; it has {', '.join(parameters)}.{hint}; full_key: {path}"
            )
    missing = [
        key
        for key, one in parameters.items()
        if one.default is one.empty and one.kind is not one.VAR_POSITIONAL and key not in node
    ]
    if missing and not node.get("_partial_") and "_args_" not in node:
        raise ConfigError(f"{name} lacks {', '.join(missing)}; full_key: {path}")
    if isinstance(kind, type) and is_dataclass(kind) and not is_pydantic_dataclass(kind):
        plain = {key: value for key, value in node.items() if key in parameters and not any(nodes(value))}
        try:
            check_values(kind, plain)
        except ValidationError as error:
            raise ConfigError(f"{describe(error)}; full_key: {path}") from None


def _parameters(kind: Any) -> Mapping[str, inspect.Parameter]:
    """What a class or function takes; pydantic's signature of a class is not that of its subclasses."""
    if isinstance(kind, type) and "__signature__" not in vars(kind) and hasattr(kind, "__signature__"):
        _, *own = inspect.signature(kind.__init__).parameters.items()  # type: ignore[misc]
        return dict(own)
    return inspect.signature(kind).parameters


def sources(values: Mapping[str, Any]) -> dict[str, str]:
    """A digest of the code of each outside class of a job."""
    names = {target for _, target in targets(values["job"]) if not target.startswith(OWN_PACKAGE)}
    return {name: source_digest(name.partition(".")[0]) for name in sorted(names)}


@cache
def source_digest(package: str) -> str:
    """The digest of a package's Python files, or of a module's file.

    Comments, blank lines and the way lines are broken do not count.
    """
    module = sys.modules.get(package) or import_module(package)
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    files = [
        (str(path.relative_to(folder)), path) for folder in folders for path in files_below(folder, "*.py")
    ]
    if not folders and (file := getattr(module, "__file__", None)):
        files = [(Path(file).name, Path(file))]
    digest = hashlib.blake2b(digest_size=12)
    for name, path in sorted(files):
        digest.update(f"{name}\0{hashlib.blake2b(_code(path.read_bytes())).hexdigest()}\n".encode())
    return digest.hexdigest()


def _code(source: bytes) -> bytes:
    """What a Python file says, as its syntax tree without places; the file itself where it has errors."""
    try:
        return repr(_tree(ast.parse(source))).encode("utf-8", "surrogatepass")
    except (RecursionError, SyntaxError, ValueError):
        return source


def _tree(node: Any) -> Any:
    """A syntax tree as nested tuples; what is empty is left out, as versions of Python differ in it."""
    if isinstance(node, ast.AST):
        fields = ((name, _tree(value)) for name, value in ast.iter_fields(node) if value not in (None, []))
        return type(node).__name__, *fields
    return tuple(map(_tree, node)) if isinstance(node, list) else node


def _reason(target: str, cause: BaseException) -> str:
    """Why there is no such class: what its code got wrong, or what is not there."""
    said = " ".join(str(cause).split())
    if isinstance(cause, SyntaxError):
        return f"{cause.filename}, line {cause.lineno}: {cause.msg}."
    if place := _place(cause):
        return f"{place}: {type(cause).__name__}: {said}"
    if isinstance(cause, ModuleNotFoundError) and f"{target}.".startswith(f"{cause.name}."):
        return _not_there(str(cause.name))
    return said


def _not_there(missing: str) -> str:
    parent, _, name = missing.rpartition(".")
    if not parent:
        return (
            f"there is no module {name} on Python's path. Start in the folder that holds it, or export "
            "PYTHONPATH=FOLDER."
        )
    module = import_module(parent)
    inside = [one.name for one in iter_modules(getattr(module, "__path__", []))]
    return f"{parent} has no {name}.{did_you_mean(name, {*vars(module), *inside})}"


def _place(error: BaseException) -> str:
    """The innermost line at which an error arose in code that was imported; empty where there was none."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith("<frozen") and frame.filename not in _IMPORTING
    ]
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else ""
