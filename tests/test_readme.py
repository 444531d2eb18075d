"""What the README shows runs as printed."""

import re
import warnings
from pathlib import Path

from infgp import ConvergenceWarning

README = Path(__file__).parent.parent / "README.md"


def test_python_blocks_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 3
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for block in blocks:
            exec(compile(block, str(README), "exec"), names)
    printed = capsys.readouterr().out
    assert "Recommendation(" in printed
    assert "expected reward" in printed
