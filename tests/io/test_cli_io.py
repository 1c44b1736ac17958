import pytest
from traces import switch

from schedlab.cli import main


def _run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return ended.value.code, shown.out, shown.err


@pytest.mark.parametrize("command", ["trace", "rtapp"])
@pytest.mark.parametrize("content", [b"", b"\0\1", b"hello\n", b"{", b"PERFILE2"])
def test_bad_file__one_line_and_status_2(capsys, tmp_path, command, content):
    path = tmp_path / "bad"
    path.write_bytes(content)
    status, out, err = _run(capsys, command, path)
    assert status == 2 and out == "" and err.count("\n") == 1 and "bad" in err and "Traceback" not in err


def test_trace__shows_and_converts(capsys, tmp_path):
    path = tmp_path / "t.txt"
    path.write_text(switch(1, 0, 0, 7, "R") + switch(2, 0, 7, 0) + "oops\n")
    status, out, _ = _run(capsys, "trace", path, "--to", tmp_path / "o.json")
    assert status == 0 and "running 1.000000 s" in out and "1 x line that is no event, first at line 3: oops" in out
    assert (tmp_path / "o.json").is_file()
    status, _, err = _run(capsys, "trace", path, "--to", tmp_path / "o.xyz")
    assert status == 2 and ".pftrace" in err
    status, _, err = _run(capsys, "trace", path, "--to", tmp_path / "no" / "o.json")
    assert status == 2 and err.count("\n") == 1


def test_snapshot__refuses_a_folder_with_something_in_it(capsys, tmp_path):
    (tmp_path / "x").write_text("")
    status, _, err = _run(capsys, "snapshot", tmp_path, "--seconds", "0")
    assert status == 2 and "not empty" in err


def test_rtapp__shows_notes(capsys, tmp_path):
    path = tmp_path / "t.json"
    path.write_text('{"tasks": {"a": {"loop": 1, "run": 5,},},}')
    assert _run(capsys, "rtapp", path)[:2] == (0, "1 tasks in 0 groups\n")
