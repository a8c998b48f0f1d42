"""A user's own Python file, named on the command line: found, named and imported."""

import ast
import hashlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from bench.errors import UsageError
from bench.files import sha256_of
from bench.kept_state import kept_state


def is_file(text: str) -> bool:
    """Tell whether a name on the command line means a file rather than a registered name."""
    return ".py" in text or "/" in text


def split_spec(spec: str) -> tuple[Path, str]:
    """Split ``path/to/file.py:ClassName``.

    Raises
    ------
    UsageError
        The text is not of that form, or there is no such file.
    """
    file, colon, class_name = spec.rpartition(":")
    if not colon or not class_name.isidentifier():
        raise UsageError(f"{spec!r}: expected FILE.py:ClassName, for example ./my_model.py:MyNet")
    return existing(file), class_name


def existing(file: str) -> Path:
    """Return the absolute path of a user's file.

    Raises
    ------
    UsageError
        There is no such file.
    """
    try:
        path = Path(file).expanduser().resolve()
        is_there = path.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"{file[:200]!r}: cannot be used as a file ({error}); give its path") from error
    if not is_there:
        raise UsageError(f"{file if file.isprintable() else ascii(file)}: no such file")
    return path


def module_name(path: Path) -> str:
    """Return the name under which a user's file is imported: unlike any package's, the same for the same path."""
    return f"bench_plugin_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"


def source_hash(path: Path) -> str:
    """Return the SHA-256 of a user's file together with the files beside it that it imports, and those they import.

    A file that imports none of them has its own hash. Installed packages are not looked into.
    """
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting.extend(_imported_beside(file, path.parent))
    if found == {path}:
        return sha256_of(path)
    lines = (f"{file.relative_to(path.parent)} {sha256_of(file)}\n" for file in sorted(found))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _imported_beside(path: Path, folder: Path) -> Iterator[Path]:
    """Yield the modules of a folder that a file names in its imports, and all files of such packages."""
    try:
        tree = ast.parse(path.read_bytes())
    except SyntaxError:
        # Importing it says so better.
        return
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            first = folder / name.partition(".")[0]
            if first.with_suffix(".py").is_file():
                yield first.with_suffix(".py")
            elif first.is_dir():
                yield from first.rglob("*.py")


def load(path: Path) -> ModuleType:
    """Import a user's file, once; its folder can be imported from as when it is run as a script.

    What it changes of this process while it is imported, such as seeds and the current folder, is put back.

    Raises
    ------
    UsageError
        The file is not a Python module.
    Exception
        Whatever the file raises; it is then imported anew the next time.
    """
    name = module_name(path)
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: not a Python file")
    if str(path.parent) not in sys.path:
        sys.path.insert(_first_of_others(), str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with kept_state():
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _first_of_others() -> int:
    """Return the place on the path behind the standard library and before all packages, this one's folder included."""
    others = {
        "",
        str(Path(__file__).parents[1]),
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
    }
    return next((place for place, folder in enumerate(sys.path) if folder in others), len(sys.path))
