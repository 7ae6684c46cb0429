"""Griffe extension: the fields of the classes of icpo.types become a table in their docstrings."""

from typing import Any

import griffe


class Fields(griffe.Extension):
    """Adds a section "Attributes" with each field, its type and its default; of an Enum, its values."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Extend the docstring of a class that has fields."""
        is_enum = any(str(base) == "Enum" for base in cls.bases)
        fields = [
            one
            for one in cls.attributes.values()
            if "property" not in one.labels and (is_enum or one.annotation is not None)
        ]
        if cls.path.startswith("icpo.types.") and cls.docstring and fields:
            lines = [
                f"    {one.name} (str): `{one.value}`." if is_enum else f"    {one.name}: {_text(one)}"
                for one in fields
            ]
            cls.docstring.value += "\n\nAttributes:\n" + "\n".join(lines)


def _text(field: griffe.Attribute) -> str:
    """A field's docstring, which the table replaces, and its default."""
    said = " ".join(field.docstring.value.split()) if field.docstring else ""
    field.docstring = None
    return f"{said} {'Required.' if field.value is None else f'Default `{field.value}`.'}".strip()
