"""JupyterLab as `make lab` starts it, on loopback with a token, and a headless Chromium on it."""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Where Debian and Fedora put the driver when it is not on the path.
_DRIVERS = ("chromedriver", "/usr/lib/chromium/chromedriver", "/usr/lib64/chromium-browser/chromedriver")
#: Seconds that any single step may take, on a machine that is busy with other tests.
PATIENCE = 120


def missing() -> str:
    """Return what keeps a browser test from running here, as a sentence; "" where nothing does."""
    if not _found(CHROMIUM):
        return "Chromium is not installed: the page was not tried in a browser (Debian: apt-get install chromium)"
    if not _found(_DRIVERS):
        return "chromedriver is not installed: no browser test was run (Debian: apt-get install chromium-driver)"
    return ""


def _found(names):
    return next(filter(None, map(shutil.which, names)), None)


def wait_for(what, condition, seconds=PATIENCE):
    """Return the first true value of condition(); what it raises meanwhile counts as false."""
    end, problem = time.monotonic() + seconds, None
    while time.monotonic() < end:
        try:
            value = condition()
        except Exception as error:
            value, problem = None, error
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what}: not within {seconds} s ({problem!r})")


# What a widget's callback raises goes to the page as a message that no cell shows: the kernel writes it down itself.
LOG_EXCEPTIONS = """
import traceback

def _keep(shell, path):
    show = shell.showtraceback

    def logged(*arguments, **more):
        with open(path, "a") as log:
            log.write(traceback.format_exc())
        return show(*arguments, **more)

    shell.showtraceback = logged

_keep(get_ipython(), {path!r})
"""


@dataclass
class Lab:
    """A running JupyterLab and a browser.

    Attributes
    ----------
    url : str
        Where `make lab` opens, token included.
    browser : selenium.webdriver.Chrome
    log_file : pathlib.Path
        What the server writes.
    kernel_log : pathlib.Path
        The traceback of each exception in a kernel.
    """

    url: str
    browser: object
    log_file: Path
    kernel_log: Path

    @property
    def log(self) -> str:
        """What server and kernels have written so far."""
        return "".join(path.read_text(errors="replace") for path in (self.log_file, self.kernel_log) if path.exists())

    def script(self, code, *arguments):
        """Run JavaScript in the page and return its value."""
        return self.browser.execute_script(code, *arguments)

    def find(self, css):
        """Return the elements of the page that match."""
        return self.browser.find_elements("css selector", css)

    def command(self, name):
        """Do what a menu entry of JupyterLab does."""
        self.script("window.jupyterapp.commands.execute(arguments[0])", name)


def lab_command() -> tuple[dict, list]:
    """Return the environment and the arguments that `make lab` gives to jupyter, after ``notebooks``."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
    shown = subprocess.run(["make", "-n", "lab"], cwd=TOP, capture_output=True, text=True, check=True, env=clean)
    line = shown.stdout.strip().splitlines()[-1]
    config, arguments = re.fullmatch(r'JUPYTER_CONFIG_PATH="([^"$]+)\S*" \S+/jupyter lab notebooks (.+)', line).groups()
    return {"JUPYTER_CONFIG_PATH": config}, arguments.split()


@contextmanager
def running_lab(folder: Path, notebooks: Path):
    """Start JupyterLab on a folder of notebooks and a browser on it; end both."""
    extra, arguments = lab_command()
    own = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    places = {f"JUPYTER_{name}": str(folder / name.lower()) for name in own}
    places |= {f"JUPYTERLAB_{name}_DIR": str(folder / name.lower()) for name in ("SETTINGS", "WORKSPACES")}
    env = {**os.environ, **extra, **places, "IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": str(TOP)}
    env.pop("SCHEDLAB_REPORT_DIR", None)
    kernel_log = folder / "kernel.log"
    startup = folder / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "log_exceptions.py").write_text(LOG_EXCEPTIONS.format(path=str(kernel_log)))
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyter", "lab", str(notebooks), *arguments, "--no-browser", "--allow-root"]
    command += [
        "--ip=127.0.0.1",
        "--port=0",
        f"--IdentityProvider.token={token}",
        "--LabApp.expose_app_in_browser=True",
    ]
    log_file = folder / "lab.log"
    with log_file.open("w") as log:
        server = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            address = wait_for("JupyterLab's address", lambda: _address(folder / "runtime_dir"))
            browser = _browser(folder)
            try:
                yield Lab(f"{address}?token={token}", browser, log_file, kernel_log)
            finally:
                browser.quit()
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()


def _address(runtime):
    (file,) = runtime.glob("jpserver-*.json")
    return json.loads(file.read_text())["url"]


def _browser(folder):
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = _found(CHROMIUM)
    # no sandbox: root has none, and only our own page is opened
    # so high that all is in view: JupyterLab takes cells that are not out of the page
    flags = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1500,4000")
    for flag in (*flags, f"--user-data-dir={folder / 'chromium'}"):
        options.add_argument(flag)
    browser = Chrome(options=options, service=Service(_found(_DRIVERS)))
    browser.set_script_timeout(PATIENCE)
    return browser
