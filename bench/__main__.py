"""``python -m bench`` is the same as ``bench``."""

from bench.cli import main

if __name__ == "__main__":
    main()
