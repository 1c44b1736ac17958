"""How the nouns show themselves in a notebook."""

from html import escape


def html_table(title: str, rows: list[tuple[str, str]]) -> str:
    """Return a compact HTML table of two columns, everything escaped."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(str(k))}</th><td style='text-align:left'>{escape(str(v))}</td></tr>"
        for k, v in rows
    )
    return f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>{body}</table>"
