"""The picture in docs/optuna.md: a study with outliers in optuna-dashboard, taken with headless Chromium.

pip install optuna-dashboard playwright      # and Chromium, e.g. apt-get install chromium
python -m benchmarks.dashboard_picture [--chromium PATH]     # writes docs/dashboard.png
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
from playwright.sync_api import sync_playwright

from infgp.optuna import OFF_SURFACE, InfGPSampler

OUT = Path(__file__).parents[1] / "docs" / "dashboard.png"
PORT, TRIALS, OUTLIERS = 18231, 60, 0.12


def study(url: str) -> optuna.Study:
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
    for _ in range(120):
        try:
            urlopen(address).close()
            return
        except URLError:
            time.sleep(0.5)
    raise SystemExit(f"{address} does not answer.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=shutil.which("chromium"), help="default: the one on the PATH")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/study.db"
        trials = study(url).trials
        outlier = max(trials, key=lambda t: (t.user_attrs.get(OFF_SURFACE, 0.0), abs(t.value)))
        program = str(Path(sys.executable).parent / "optuna-dashboard")
        server = subprocess.Popen([program, url, "--host", "127.0.0.1", "--port", str(PORT)])
        try:
            wait_for(f"http://127.0.0.1:{PORT}/api/meta")
            with sync_playwright() as play:
                browser = play.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1500, "height": 640})
                page.goto(f"http://127.0.0.1:{PORT}/dashboard/studies/1/trials?numbers={outlier.number}")
                page.get_by_text(OFF_SURFACE).first.wait_for()
                page.screenshot(path=OUT)
                browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
