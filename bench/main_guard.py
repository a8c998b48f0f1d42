"""Whether the script that runs may start processes: each of them imports the script, and must not begin it anew."""

import ast
import linecache
import sys
from functools import cache
from types import FrameType

from bench.errors import UsageError


def require_main_guard() -> None:
    """Refuse to start processes from a script that would start them again in each of them.

    Raises
    ------
    UsageError
        The script asks for processes outside of ``if __name__ == "__main__":``.
    """
    main = sys.modules["__main__"].__dict__
    if main.get("__file__") is None:
        return
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals is main and frame.f_code.co_name == "<module>":
            path = frame.f_code.co_filename
            if not _is_guarded(path, frame.f_lineno):
                raise UsageError(
                    f"{path}, line {frame.f_lineno}: starts processes, which import this script again; put its last "
                    "lines, from this one on, below a line 'if __name__ == \"__main__\":'"
                )
            return
        frame = frame.f_back


@cache
def _is_guarded(path: str, line: int) -> bool:
    """Tell whether a top-level statement that asks for the module's name holds a line or stands before it."""
    try:
        tree = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        # Not what is run: whoever changed it in between is not refused for that.
        return True
    asked = [node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)]
    return not tree.body or any(node.lineno <= line for node in asked)
