"""The pictures in docs/optuna.md: a study with outliers in optuna-dashboard, taken with headless Chromium.

pip install optuna-dashboard      # and Chromium, e.g. apt-get install chromium
python docs/make_dashboard.py [--chromium PATH]     # writes docs/dashboard.png and docs/dashboard-trial.png
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import optuna

from infgp.optuna import OFF_SURFACE, InfGPSampler

DOCS = Path(__file__).resolve().parent
PORT, TRIALS, OUTLIERS = 18231, 60, 0.12


def study(url: str) -> optuna.Study:
    """A study whose rewards have outliers."""
    rng = np.random.default_rng(1)

    def objective(trial: optuna.Trial) -> float:
        rate = trial.suggest_float("rate", 1e-4, 1.0, log=True)
        width = trial.suggest_float("width", 0.0, 1.0)
        value = (math.log10(rate) + 2) ** 2 + 2 * (width - 0.6) ** 2 + 0.05 * rng.standard_normal()
        return value + (rng.choice([-4.0, 5.0]) if rng.random() < OUTLIERS else 0.0)

    made = optuna.create_study(study_name="outliers", storage=url, sampler=InfGPSampler(seed=0))
    made.optimize(objective, n_trials=TRIALS)
    return made


def wait_for(address: str) -> None:
    """Return when a server answers."""
    for _ in range(120):
        try:
            urlopen(address).close()
            return
        except URLError:
            time.sleep(0.5)
    raise SystemExit(f"{address} does not answer.")


def photograph(chromium: str, page: str, size: str, expected: str, out: Path) -> None:
    """Take a picture of a page of the dashboard once `expected` is on it."""
    address = f"http://127.0.0.1:{PORT}/dashboard/studies/1{page}"
    look = [chromium, "--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={size}"]
    look.append("--virtual-time-budget=10000")  # milliseconds for scripts, not counting what they load
    shown = subprocess.run([*look, "--dump-dom", address], capture_output=True, text=True, check=True).stdout
    if expected not in shown:
        raise SystemExit(f"{address} does not show {expected!r}.")
    subprocess.run([*look, f"--screenshot={out}", address], capture_output=True, check=True)
    print(f"Picture: {out}")


def main() -> None:
    """Make the study and take both pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="default: the one on the PATH")
    options = parser.parse_args()
    if options.chromium is None:
        parser.error("There is no chromium on the PATH; install it or give --chromium.")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/study.db"
        trials = study(url).trials
        outlier = max(trials, key=lambda t: (t.user_attrs.get(OFF_SURFACE, 0.0), abs(t.value)))
        program = str(Path(sys.executable).parent / "optuna-dashboard")
        command = [program, url, "--host", "127.0.0.1", "--port", str(PORT), "--quiet"]
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            wait_for(f"http://127.0.0.1:{PORT}/api/meta")
            photograph(options.chromium, "", "1500,650", "History", DOCS / "dashboard.png")
            trial = f"/trials?numbers={outlier.number}"
            photograph(options.chromium, trial, "1500,640", OFF_SURFACE, DOCS / "dashboard-trial.png")
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
