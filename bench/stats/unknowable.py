"""Why an interval over seeds and subjects does not exist: one error for each reason, shown as a footnote."""

from bench.errors import BenchError


class NoIntervalError(BenchError):
    """A source of variance cannot be estimated from the scores."""


class FewSeedsError(NoIntervalError):
    """One seed shows no variance between seeds."""

    def __init__(self, n_seeds: int) -> None:
        super().__init__(f"no interval and no verdict from {n_seeds} seed; train at least two, better five")


class FewSubjectsError(NoIntervalError):
    """One test subject shows no variance between subjects."""

    def __init__(self, n_subjects: int) -> None:
        super().__init__(f"no interval from {n_subjects} test subject; test on at least two, better twenty")


class LoneSubjectError(NoIntervalError):
    """A class has the windows of a single test subject: without that subject there is no score."""

    def __init__(self, label: int) -> None:
        super().__init__(
            f"no interval: all test windows of class {label} are of one subject; test on at least two"
        )


class OneClassError(NoIntervalError):
    """All test windows are of one class, so that nothing can be ranked."""

    def __init__(self) -> None:
        super().__init__("no AUROC and no interval: all test windows are of one class; test on at least two")
