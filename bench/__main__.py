"""Where ``bench`` and ``python -m bench`` begin: Ctrl-C has its answer before the first slow import."""

import sys


def main() -> None:
    """Import the commands and run the one that is asked for."""
    try:
        from bench.cli import main as commands

        commands(prog_name="bench")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
