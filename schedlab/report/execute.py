"""One notebook through papermill: in this very Python, with an environment that makes figures repeatable."""

import functools
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from .._pool import Stopped

# Years a matplotlib SVG or PDF would otherwise carry; any fixed moment does.
_EPOCH = "1700000000"


class Kernels:
    """The kernels that are running, so that an interrupted report can end its own and no others."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running = set()
        self.stopped = False

    def add(self, manager):
        """Remember a kernel manager; refuse where the report was stopped already."""
        with self._lock:
            if self.stopped:
                raise Stopped
            self._running.add(manager)

    def discard(self, manager):
        """Forget a kernel manager."""
        with self._lock:
            self._running.discard(manager)

    def stop(self):
        """Kill what runs; the threads that wait for those kernels then find them dead and end."""
        with self._lock:
            self.stopped = True
            for manager in self._running:
                process = getattr(manager.provisioner, "process", None)
                if process is not None:
                    process.kill()


def environment(folder: Path, quick: bool = False) -> dict[str, str]:
    """Return the environment of a kernel whose notebook writes into ``folder``.

    A quick run makes PNG alone, unless SCHEDLAB_FIGURE_FORMATS says otherwise.
    """
    fixed = {
        "SCHEDLAB_REPORT_DIR": str(folder),
        "SOURCE_DATE_EPOCH": _EPOCH,
        "TQDM_DISABLE": "1",  # a bar in the output would be different in each run
        "IPYTHONDIR": str(folder / ".ipython"),  # the user's start-up files are not part of the study
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    if quick:
        fixed["SCHEDLAB_FIGURE_FORMATS"] = os.environ.get("SCHEDLAB_FIGURE_FORMATS", "png")
    return {**os.environ, **fixed}


@functools.cache
def _register_engine():
    """Make papermill's engine "schedlab" and return its name."""
    from jupyter_client import AsyncKernelManager
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from papermill.clientwrap import PapermillNotebookClient
    from papermill.engines import NBClientEngine, papermill_engines

    class ThisPython(KernelSpecManager):
        """Whatever kernels are installed: the notebook runs in the Python that runs schedlab."""

        def get_kernel_spec(self, kernel_name):
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
            return KernelSpec(argv=command, display_name="schedlab", language="python")

    class Manager(AsyncKernelManager):
        kernels = None

        async def start_kernel(self, **kwargs):
            await super().start_kernel(**kwargs)
            try:
                self.kernels.add(self)
            except Stopped:
                await self.shutdown_kernel(now=True)
                raise

    class Client(PapermillNotebookClient):
        kernels = None

        def create_kernel_manager(self):
            self.km = Manager(kernel_name="python3", kernel_spec_manager=ThisPython())
            self.km.kernels = self.kernels
            return self.km

    class Engine(NBClientEngine):
        @classmethod
        def execute_managed_notebook(cls, nb_man, kernel_name, *, folder, quick, kernels, on_cell, **kwargs):
            client = Client(
                nb_man,
                kernel_name="python3",
                startup_timeout=300,
                iopub_timeout=60,
                timeout=None,
                on_cell_executed=on_cell,
            )
            client.kernels = kernels
            try:
                return client.execute(env=environment(folder, quick), cwd=str(folder))
            finally:
                kernels.discard(client.km)

    papermill_engines.register("schedlab", Engine)
    return "schedlab"


def import_papermill():
    """Import papermill, and leave out what takes most of its time: the grammars of internationalised addresses.

    jsonschema, under nbformat, builds 38 grammars (about 4 s of CPU time) when `rfc3987_syntax` can be imported, for a
    check of a format that no schema of a notebook names; it does without where the import fails.
    """
    grammars = "rfc3987_syntax"
    hidden = grammars not in sys.modules and "jsonschema" not in sys.modules
    if hidden:
        sys.modules[grammars] = None
    try:
        import papermill
    finally:
        if hidden:
            del sys.modules[grammars]
    return papermill


def run_notebook(path: Path, parameters: dict, folder: Path, kernels: Kernels, on_cell: Callable[[int, int], None]):
    """Run a notebook with its kernel in ``folder`` and return it with its outputs.

    Parameters
    ----------
    path
        The notebook.
    parameters
        Values for its parameters cell, of the declared types.
    folder
        Where it writes (SCHEDLAB_REPORT_DIR) and runs.
    kernels
        Knows the kernel while it runs.
    on_cell
        Called as ``on_cell(done, total)`` with the number of code cells.

    Raises
    ------
    papermill.exceptions.PapermillExecutionError
        When a cell raises; the notebook so far is in ``folder/notebook.ipynb``.
    """
    papermill = import_papermill()
    import nbformat

    engine = _register_engine()
    notebook = nbformat.read(path, as_version=4)
    total = sum(cell.cell_type == "code" for cell in notebook.cells) + bool(parameters)
    done = 0

    def count(**_):
        nonlocal done
        done += 1
        on_cell(done, total)

    on_cell(0, total)
    output = folder / "notebook.ipynb"
    # cwd=None: papermill would change the folder of the whole process, which runs other notebooks at the same time.
    executed = papermill.execute_notebook(
        notebook,
        str(output),
        parameters=parameters,
        engine_name=engine,
        kernel_name="python3",
        language="python",
        request_save_on_cell_execute=False,
        progress_bar=False,
        folder=folder,
        quick=parameters.get("quick") is True,
        kernels=kernels,
        on_cell=count,
    )
    tidy(executed)
    nbformat.write(executed, output)
    return executed


def tidy(notebook) -> None:
    """Take out of an executed notebook what differs between two runs: times, random ids, progress bars, widgets."""
    parameters = notebook.metadata.get("papermill", {}).get("parameters", {})
    notebook.metadata["papermill"] = {"parameters": parameters}
    notebook.metadata.pop("widgets", None)
    for number, cell in enumerate(notebook.cells):
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell.id = f"injected-parameters-{number}"
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _passing(output)]


def _passing(output):
    widget = "application/vnd.jupyter.widget-view+json" in output.get("data", {})
    bar = output.output_type == "stream" and output.name == "stderr" and "\r" in output.text
    return widget or bar
