"""The one place that sets numba's options.

numba keys its cache on the content of the file that defines a function, not on what that function calls: after an
edit of a callee in another file the caller keeps running old machine code. The compiled entry points are therefore
cached under a digest of all sources that compiled code can reach (and the numba version), taken before the first
function is decorated. Compiled code reaches this file and the rooms in `COMPILED_ROOMS` alone: a test holds them to
that.

numba by default links, optimises and emits each function together with all that it calls, so that a function six calls
deep is optimised six times over. Here internal functions are only lowered to LLVM (`_Part`), and an entry point links
the parts, optimises the whole once and emits it (`_Whole`): the engine compiles in about two fifths of the time. Like
the State extension this rests on numba's low-level interfaces, which is why its minor version is pinned
(`TESTED_NUMBA`).
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
import sys
import tempfile

import numba
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

#: numba releases that the State extension (engine/state.py) was tested with.
TESTED_NUMBA = ("0.68",)

#: Bounds-checked field access in the engine: set SCHEDLAB_DEBUG=1 before the first import.
DEBUG = os.environ.get("SCHEDLAB_DEBUG") == "1"

_KEEP = 4  # cache folders of other digests that are kept, newest first


#: Folders of the package whose functions are compiled; they import nothing of schedlab but each other and this file.
COMPILED_ROOMS = ("engine", "hotplug")


def sources_digest() -> str:
    """SHA-256 over every source that compiled code can reach, the numba version and the debug switch."""
    root = pathlib.Path(__file__).parent
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]} {DEBUG}".encode())
    paths = [root / "_jit.py", *(path for room in COMPILED_ROOMS for path in (root / room).rglob("*.py"))]
    for path in sorted(paths):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _cache_base() -> pathlib.Path:
    named = os.environ.get("SCHEDLAB_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return pathlib.Path(named) / "schedlab"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    base = pathlib.Path(home) / "schedlab" / "numba"
    try:
        base.mkdir(parents=True, exist_ok=True)
        return base
    except OSError:  # a read-only home: compile into a temporary folder
        return pathlib.Path(tempfile.gettempdir()) / f"schedlab-{os.getuid()}" / "numba"


def _cache_dir() -> str:
    base = _cache_base()
    mine = base / sources_digest()[:16]
    mine.mkdir(parents=True, exist_ok=True)
    os.utime(mine)
    others = sorted((p for p in base.iterdir() if p.is_dir() and p != mine), key=lambda p: -p.stat().st_mtime)
    for old in others[_KEEP:]:
        shutil.rmtree(old, ignore_errors=True)
    return str(mine)


class _Part(JITCodeLibrary):
    """The code of one internal function: neither linked nor optimised nor emitted on its own."""

    def finalize(self):
        self._raise_if_finalized()
        self._finalized = True


class _Whole(JITCodeLibrary):
    """The code of an entry point with all parts that it reaches."""

    def finalize(self):
        self._raise_if_finalized()
        names = []
        for library in dict.fromkeys(self._linking_libraries):
            if isinstance(library, _Part):
                names += [f.name for f in library._final_module.functions if not f.is_declaration]
                self._final_module.link_in(library._final_module, preserve=True)
            else:
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        for name in names:
            self._final_module.get_function(name).linkage = "internal"
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    _name = "schedlab_part_lowering"

    def run_pass(self, state):
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = True
        super().run_pass(state)
        parts = list(dict.fromkeys([state.library, *state.library._linking_libraries]))
        key = [].append  # stands where the compiled function's address would, as a name for callers; never called
        state.targetctx.insert_user_function(key, state["cr"].fndesc, parts)
        state["cr"] = state["cr"]._replace(cfunc=key)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _WholeLowering(NativeLowering):
    _name = "schedlab_whole_lowering"

    def run_pass(self, state):
        state.library = _Whole(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super().run_pass(state)


def _pipeline(state, lowering):
    pipeline = DefaultPassBuilder.define_nopython_pipeline(state)
    pipeline.passes[:] = [(lowering if cls is NativeLowering else cls, text) for cls, text in pipeline.passes]
    pipeline.finalize()
    return [pipeline]


class _PartCompiler(CompilerBase):
    def define_pipelines(self):
        return _pipeline(self.state, _PartLowering)


class _WholeCompiler(CompilerBase):
    def define_pipelines(self):
        return _pipeline(self.state, _WholeLowering)


def internal(function):
    """Compile a function that only compiled code calls: no wrappers, no cache of its own.

    Once for all calls: numba would compile it anew for each constant that it is called with (94 of 426 compilations).
    """
    made = numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_PartCompiler)(function)
    template = made.get_call_template

    def of_plain_types(args, kws):
        kws = {name: types.unliteral(kind) for name, kind in kws.items()}
        return template(tuple(types.unliteral(kind) for kind in args), kws)

    made.get_call_template = of_plain_types
    return made


def entry(function):
    """Compile a function that Python calls: cached on disk under the digest of all sources, and without the GIL."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _cache_dir()
    try:
        return numba.njit(cache=True, nogil=True, pipeline_class=_WholeCompiler)(function)
    finally:
        numba.config.CACHE_DIR = before
