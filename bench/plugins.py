"""A user's own Python file, named on the command line: found, named and imported."""

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from bench.errors import UsageError


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
    path = Path(file).expanduser().resolve()
    if not path.is_file():
        raise UsageError(f"{file}: no such file")
    return path


def module_name(path: Path) -> str:
    """Return the name under which a user's file is imported: unlike any package's, the same for the same path."""
    return f"bench_plugin_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"


def load(path: Path) -> ModuleType:
    """Import a user's file, once; its folder can be imported from as when it is run as a script.

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
        sys.path.append(str(path.parent))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
