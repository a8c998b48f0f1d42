"""Where ``bench`` and ``python -m bench`` begin: Ctrl-C has its answer before the first slow import."""

import os
import sys
import warnings


def main() -> None:
    """Import the commands and run the one that is asked for."""
    _hush_libraries()
    try:
        from bench.cli import main as commands

        commands(prog_name="bench")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None


def _hush_libraries() -> None:
    """Keep warnings of libraries off the terminal, here and in the processes started from here.

    A cell's log has those of its training. ``--debug``, ``python -W`` and PYTHONWARNINGS show them.
    """
    if not sys.warnoptions and "--debug" not in sys.argv:
        warnings.simplefilter("ignore")
        os.environ["PYTHONWARNINGS"] = "ignore"


if __name__ == "__main__":
    main()
