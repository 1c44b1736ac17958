"""JSON as json-c takes it (comments, trailing commas), with the line of every key for errors."""

import re

from .source import BadFile

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.S)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(\.\d{1,17})?(?:[eE][+-]?\d{1,3})?(?![\w.])")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_WORDS = {"true": True, "false": False, "null": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST = 32


class Node(dict):
    """A JSON object: key -> value, with `lines` (key -> line), its own `line` and its `path` such as "tasks.a"."""

    def __init__(self, line: int, path: str):
        super().__init__()
        self.line, self.path, self.lines = line, path, {}

    def at(self, key: str) -> str:
        """Return the path of a key of it."""
        return f"{self.path}.{key}" if self.path else key


def parse(text: str, file) -> Node:
    """Return the object that a text holds.

    Raises
    ------
    BadFile
        Naming file and line.
    """
    parser = _Parser(text, file)
    if parser.peek() != "{":
        raise parser.wrong("an object { ... } is needed")
    tree = parser.value("", 0)
    if parser.peek():
        raise parser.wrong("something follows the end of the object")
    return tree


class _Parser:
    def __init__(self, text, file):
        self.text, self.file, self.at = text, file, 0

    def line(self, at=None):
        return self.text.count("\n", 0, self.at if at is None else at) + 1

    def wrong(self, reason, at=None):
        return BadFile(self.file, reason, self.line(at))

    def peek(self) -> str:
        self.at = _SPACE.match(self.text, self.at).end()
        return self.text[self.at : self.at + 1]

    def value(self, path, depth):
        if depth > _DEEPEST:
            raise self.wrong(f"objects within objects more than {_DEEPEST} deep")
        first = self.peek()
        if first == "{":
            return self.object(path, depth)
        if first == "[":
            return self.array(path, depth)
        if first == '"':
            return self.string()
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            whole = number[0].lstrip("-").isdecimal()
            return int(number[0]) if whole else float(number[0])
        word = re.compile(r"\w+").match(self.text, self.at)
        if word and word[0].lower() in _WORDS:
            self.at = word.end()
            return _WORDS[word[0].lower()]
        found = self.text[self.at : self.at + 20].split("\n")[0]
        raise self.wrong(f"a value is needed, not {found!r}" if found else "the text ends within an object")

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if not found:
            raise self.wrong("a text in double quotes on one line is needed")
        self.at = found.end()
        return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", _unescape, found[1])

    def object(self, path, depth):
        node = Node(self.line(), path)
        self.at += 1
        while True:
            first = self.peek()
            if first == "}":
                self.at += 1
                return node
            if first != '"':
                raise self.wrong(
                    'a key in double quotes or "}" is needed' if first else "the text ends within an object"
                )
            at = self.at
            key = self.string()
            if key in node:
                raise self.wrong(f"{node.at(key)}: the key occurs twice; rt-app itself keeps the last one alone", at)
            if self.peek() != ":":
                raise self.wrong(f"{node.at(key)}: a ':' is needed after the key")
            self.at += 1
            node.lines[key] = self.line(at)
            node[key] = self.value(node.at(key), depth + 1)
            self.comma("}")

    def array(self, path, depth):
        self.at += 1
        items = []
        while self.peek() != "]":
            items.append(self.value(f"{path}[{len(items)}]", depth + 1))
            self.comma("]")
        self.at += 1
        return items

    def comma(self, end):
        """Step over a comma; one before the end is taken too."""
        found = self.peek()
        if found == ",":
            self.at += 1
        elif found != end:
            raise self.wrong(f"',' or {end!r} is needed" if found else "the text ends within an object")


def _unescape(found):
    escape = found[1]
    return chr(int(escape[1:], 16)) if len(escape) == 5 else _ESCAPES.get(escape, escape)
