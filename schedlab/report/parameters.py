"""A notebook's parameters, read from its annotated cell, and values held against them before anything starts.

papermill itself guesses: a mistyped name is a warning and the defaults run, ``1e5`` for an int arrives as a float.
"""

import ast
import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from .._check import nearest

_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_EXAMPLES = {"int": "20000", "float": "0.5", "bool": "true", "str": "a word"}


class Refused(ValueError):
    """What was asked for cannot be done; the message is one line that names the thing, the value and the rule."""


@dataclass(frozen=True)
class Kind:
    """The type in an annotation: int, float, str, bool, or a list or tuple of one of them; perhaps None."""

    name: str
    item: "Kind | None" = None
    optional: bool = False

    def __str__(self):
        text = self.name if self.item is None else f"{self.name} of {self.item}"
        return f"{text} or none" if self.optional else text

    def value(self, given):
        """Return ``given`` (text from a command line, or a value) as this type; ValueError where it is not of it."""
        if self.optional and (given is None or isinstance(given, str) and given.lower() == "none"):
            return None
        if self.item is not None:
            items = _split(given) if isinstance(given, str) else given
            if not isinstance(items, (list, tuple)):
                raise ValueError(f"a {self}, such as {_EXAMPLES[self.item.name]},{_EXAMPLES[self.item.name]}")
            return [self.item.value(item) for item in items]
        return _SCALARS[self.name](given)


def _split(text):
    """Return the items of ``a,b,c`` or of a Python list; no items for empty text."""
    if text.strip()[:1] in ("[", "("):
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise ValueError("a list, such as 1,2,3 or [1, 2, 3]") from None
    return [item.strip() for item in text.split(",")] if text.strip() else []


def _int(given):
    rule = "a whole number between -2**63 and 2**63-1"
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        raise ValueError(rule)
    try:
        number = Decimal(str(given).replace("_", ""))
        # the bound comes first: int(Decimal("1e999999999")) would not end
        if not number.is_finite() or not -(2**63) <= number < 2**63 or number != number.to_integral_value():
            raise ValueError(rule)
    except InvalidOperation:
        raise ValueError(rule) from None
    return int(number)


def _float(given):
    try:
        number = float("nan" if isinstance(given, bool) else given)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError("a finite number")
    return number


def _bool(given):
    value = _WORDS.get(given.lower()) if isinstance(given, str) else given
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _str(given):
    if not isinstance(given, str):
        raise ValueError("text")
    return given


_SCALARS = {"int": _int, "float": _float, "bool": _bool, "str": _str}


@dataclass(frozen=True)
class Parameter:
    """One annotated line of the parameters cell: ``quota_us: int = 20_000  # pool per period``."""

    name: str
    kind: Kind
    default: object
    help: str = ""


def _kind(node):
    """Return the Kind that an annotation's syntax tree stands for."""
    if isinstance(node, ast.Name) and node.id in _SCALARS:
        return Kind(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [side for side in (node.left, node.right) if ast.unparse(side) != "None"]
        if len(sides) == 1:
            inner = _kind(sides[0])
            return Kind(inner.name, inner.item, optional=True)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in ("list", "tuple"):
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        items = [i for i in items if not (isinstance(i, ast.Constant) and i.value is Ellipsis)]
        inner = _kind(items[0]) if len(items) == 1 else None
        if inner is not None and inner.item is None:
            return Kind(node.value.id, inner)
    raise Refused(f"annotation {ast.unparse(node)!r}: one of int, float, str, bool, list[...] of them, or ... | None")


def _cell_source(notebook):
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and "parameters" in cell.get("metadata", {}).get("tags", []):
            source = cell["source"]
            return source if isinstance(source, str) else "".join(source)
    return ""


def read_parameters(notebook: dict, name: str) -> dict[str, Parameter]:
    """Return the parameters of a notebook (as parsed JSON) by name, in the order of the cell.

    Raises
    ------
    Refused
        When a line of the cell is not ``name: type = literal``; ``name`` is the notebook's, for the message.
    """
    source = _cell_source(notebook)
    lines = source.splitlines()
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None):
            raise Refused(f"{name}: parameters cell: {ast.unparse(node)!r}: each line is name: type = value  # meaning")
        parameter = node.target.id
        try:
            kind = _kind(node.annotation)
            default = kind.value(ast.literal_eval(node.value))
        except ValueError as problem:
            raise Refused(f"{name}: parameters cell: {parameter}: {problem}") from None
        # syntax trees count columns in bytes
        comment = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
        found[parameter] = Parameter(parameter, kind, default, comment.strip().lstrip("# "))
    return found


def convert(study: str, parameters: dict[str, Parameter], given: dict) -> dict:
    """Return ``given`` as the types that the notebook declares.

    Raises
    ------
    Refused
        When a name is unknown (with the nearest one) or a value is not of the declared type.
    """
    values = {}
    for name, value in given.items():
        parameter = parameters.get(name)
        if parameter is None:
            known = nearest(name, parameters) or f"; it has {', '.join(parameters) or 'none'}"
            raise Refused(f"-p {name} {value!r}: {study} has no parameter of that name{known}")
        try:
            values[name] = parameter.kind.value(value)
        except ValueError as problem:
            raise Refused(f"-p {name} {value!r}: {study} takes {parameter.kind} here: {problem}") from None
    return values
