"""Progress of long work where there is no terminal to draw on."""

from wfalens.cli.progress import TerminalProgress

from wfalens.cli import progress


def test_into_a_pipe_a_line_from_time_to_time_tells_how_far_it_is(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    told = TerminalProgress()
    told.start("training", 40)
    for step in range(40):
        now[0] += 10
        told.advance(1, f"CR .{90 + step // 10}")
    told.finish()
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["training (CR .90): 3 of 40", "training (CR .90): 6 of 40"]
    assert len(lines) == 13
    assert lines[-1] == "training (CR .93): 39 of 40"  # what is done needs no line


def test_short_work_says_nothing_into_a_pipe(monkeypatch, capsys):
    monkeypatch.setattr(progress.time, "monotonic", lambda: 0.0)
    told = TerminalProgress()
    told.start("reading")
    told.advance(1000)
    told.finish()
    assert capsys.readouterr().err == ""
