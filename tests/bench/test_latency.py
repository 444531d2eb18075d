"""The timing of two checkouts in one run."""

import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]


def latency(*arguments):
    command = [sys.executable, "-m", "benchmarks.ask_latency", "--quick", *arguments]
    return subprocess.run(command, cwd=REPO, capture_output=True, text=True)


@pytest.mark.slow
def test_a_checkout_against_itself_takes_about_as_long():
    done = latency("--against", str(REPO))
    assert done.returncode == 0, done.stderr
    ratios = [float(line.split("|")[-2]) for line in done.stdout.splitlines()[2:]]
    assert len(ratios) == 2
    assert all(0.2 < ratio < 5.0 for ratio in ratios)


def test_a_folder_without_infgp_is_refused(tmp_path):
    done = latency("--against", str(tmp_path))
    assert done.returncode == 1
    assert "has no infgp" in done.stderr
