"""The digests change with what they stand for, and only with that."""

from schedlab import provenance


def test_tree_digest__sees_names_contents_and_nothing_hidden(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("1")
    first = provenance._tree_digest(tmp_path)
    (tmp_path / "a" / "__pycache__").mkdir()
    (tmp_path / "a" / "__pycache__" / "x.pyc").write_text("compiled")
    (tmp_path / ".hidden").write_text("notes")
    (tmp_path / "_data").mkdir()
    (tmp_path / "_data" / "y.csv").write_text("2")
    assert provenance._tree_digest(tmp_path, skip=("_data",)) == first
    assert provenance._tree_digest(tmp_path) != first
    (tmp_path / "a" / "x.py").rename(tmp_path / "a" / "z.py")
    assert provenance._tree_digest(tmp_path, skip=("_data",)) != first


def test_provenance__holds_what_was_asked_for():
    made = provenance.provenance({"quota_us": 5}, seed=3)
    assert made["parameters"] == {"quota_us": 5} and made["seed"] == 3
    assert len(made["code_digest"]) == len(made["data_digest"]) == 64
    assert {"schedlab", "python", "numpy", "numba"} <= set(made["versions"])
