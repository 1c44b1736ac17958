"""Integer arithmetic of the fair policies."""

from .state import Entity


def calc_delta_fair(delta: int, se: Entity) -> int:
    """Return wall time as virtual time of the entity; cf. calc_delta_fair(), exact instead of by an inverse."""
    return delta * 1024 // se.weight


def div_trunc(a: int, b: int) -> int:
    """Divide towards zero, as C does (b > 0)."""
    return a // b if a >= 0 else -(-a // b)


def insert_by(tree: list[Entity], se: Entity, key: str):
    """Insert an entity after those whose key is not larger."""
    place = len(tree)
    while place and getattr(tree[place - 1], key) > getattr(se, key):
        place -= 1
    tree.insert(place, se)
