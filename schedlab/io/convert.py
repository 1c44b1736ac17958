"""Columns of texts as numbers: each different text is converted once."""

import numpy as np

from .trace import NONE


def nanoseconds(fractions):
    """Fractions of a second of 6 or 9 digits as ns."""
    joined = b"".join(fractions)
    for digits, scale in ((6, 1000), (9, 1)):
        if len(joined) == digits * len(fractions):
            places = np.frombuffer(joined, np.uint8).reshape(-1, digits) - np.uint8(48)
            return places @ (10 ** np.arange(digits - 1, -1, -1, dtype=np.int64)) * scale
    return np.array([int(text.ljust(9, b"0")) for text in fractions], np.int64)


class Numbers(dict):
    """Digits -> number; forgotten when there are many."""

    def __missing__(self, text):
        if len(self) > 1 << 18:
            self.clear()
        self[text] = number = int(text)
        return number


class Texts(dict):
    """Bytes -> position in `texts`, which holds each as text; what is not UTF-8 becomes backslash escapes."""

    def __init__(self):
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, key):
        self[key] = place = len(self.texts)
        self.texts.append(key.decode("utf-8", "backslashreplace"))
        return place


class Contexts(dict):
    """Flags -> 1 in an interrupt, 0 in a task, -1 when they do not tell. The third character is it."""

    def __missing__(self, flags):
        third = flags[2:3] if flags else b""
        self[flags] = context = 1 if third in (b"h", b"H", b"s", b"z", b"Z") and third else 0 if third == b"." else NONE
        return context
