import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "training"


def test_the_example_of_one_update_runs(capsys):
    runpy.run_path(str(EXAMPLES / "one_update.py"))
    *steps, resumed = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in steps] == [f"step {number}" for number in range(1, 6)]
    assert resumed == "{'next task': 1}"
