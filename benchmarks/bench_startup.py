"""How long the command line takes to start: median wall and CPU time of fresh processes; the aim is 150 ms."""

import resource
import statistics
import subprocess
import sys
import time

ROUNDS = 15
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "bench --help": ["-m", "bench", "--help"],
    "bench list models": ["-m", "bench", "list", "models"],
    "bench list datasets": ["-m", "bench", "list", "datasets"],
}


def once(arguments: list[str]) -> tuple[float, float]:
    """Return wall and CPU seconds of one process."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, cpu


def main() -> None:
    """Print a table; the rounds of all commands are interleaved, the first of each is not counted."""
    rounds = {name: [] for name in COMMANDS}
    for number in range(ROUNDS + 1):
        for name, arguments in COMMANDS.items():
            measured = once(arguments)
            if number:
                rounds[name].append(measured)
    print("| command | wall, ms | CPU, ms |\n| --- | ---: | ---: |")
    for name, measured in rounds.items():
        wall, cpu = (1000 * statistics.median(column) for column in zip(*measured, strict=True))
        print(f"| {name} | {wall:.0f} | {cpu:.0f} |")


if __name__ == "__main__":
    main()
