"""What an estimator is: scikit-learn's convention on whole windows, and how its output becomes logits over all classes.

``fit(X, y)`` takes ``X`` of shape ``(n_windows, n_channels, n_times)``, float32, and integer labels without gaps;
``predict_proba(X)`` or ``decision_function(X)`` gives a column for each label that was fitted. ``get_params`` and
``set_params`` tell and change the constructor's parameters, so that a fresh copy can be made.

* An estimator whose ``window_layout`` is ``"flat"`` is given ``(n_windows, n_channels * n_times)``, channel by channel;
  one whose ``window_layout`` is ``"windows"`` the windows. Without the attribute, a pipeline follows its first step,
  and scikit-learn's tags decide: estimators without the tag ``three_d_array`` get rows.
* An estimator whose ``fit`` names ``X_val`` and ``y_val`` (as scikit-learn's gradient boosting does) is given the
  validation part too, unless its parameter ``early_stopping`` is False. It may use that part as it likes.
"""

import inspect
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from bench.errors import DataError, ModelError

Windows = NDArray[np.float32]
Labels = NDArray[np.int64]
Layout = Literal["windows", "flat"]

LOG_FLOOR = float(np.log(np.finfo(np.float64).eps))
"""The logit of a probability of zero: scikit-learn's ``log_loss`` clips double precision at the same value."""

_REQUIRED = ("fit", "get_params", "set_params")
_OUTPUTS = ("predict_proba", "decision_function")
_SUM_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator.

    ``classes`` are the dataset's labels that it was fitted on, in ascending order; ``shape`` is that of a window;
    ``n_validation`` is the number of validation windows that it was given, used or not.
    """

    estimator: Any
    classes: Labels
    n_classes: int
    shape: tuple[int, int]
    n_validation: int = 0

    def logits(self, windows: Windows) -> NDArray[np.float32]:
        """Return log-probabilities ``(n_windows, n_classes)`` of windows ``(n_windows, n_channels, n_times)``.

        A class that was not fitted gets `LOG_FLOOR`, or less where another class already has less.

        Raises
        ------
        DataError
            The windows are not float32, not finite, or of another shape than those fitted.
        ModelError
            The output is of the wrong shape, not finite, or no probability.
        """
        _require_windows(windows)
        if windows.shape[1:] != self.shape:
            raise DataError(f"windows of shape {windows.shape[1:]}, but those fitted have {self.shape}")
        known = self._known(_laid_out(self.estimator, windows), len(windows))
        logits = np.repeat(np.minimum(known.min(axis=1, keepdims=True), LOG_FLOOR), self.n_classes, axis=1)
        logits[:, self.classes] = known
        return logits.astype(np.float32)

    def _known(self, inputs: NDArray[np.float32], n_windows: int) -> NDArray[np.float64]:
        """Return log-probabilities of the fitted classes, in the order of ``classes``."""
        method = next(name for name in _OUTPUTS if _has(self.estimator, name))
        output = np.asarray(getattr(self.estimator, method)(inputs), dtype=np.float64)
        what = f"{_name(self.estimator)}.{method}"
        if method == "decision_function" and output.shape == (n_windows,) and len(self.classes) == 2:
            output = np.stack([-output / 2, output / 2], axis=1)
        expected = (n_windows, len(self.classes))
        if output.shape != expected:
            raise ModelError(
                f"{what} gives shape {output.shape} for {n_windows} windows, expected {expected}: a column for each "
                f"of the {len(self.classes)} classes that were fitted"
            )
        if not np.isfinite(output).all():
            n_bad = np.count_nonzero(~np.isfinite(output))
            raise ModelError(f"{what} gives {n_bad} of {output.size} numbers that are not finite")
        if method == "decision_function":
            return log_softmax(output, axis=1)
        _require_probabilities(output, what)
        return np.log(np.maximum(output, np.finfo(np.float64).eps))


def fit(
    estimator: Any,
    windows: Windows,
    labels: Labels,
    n_classes: int,
    validation: tuple[Windows, Labels] | None = None,
) -> Fitted:
    """Fit an estimator in place, and return it with the classes of its output columns.

    Labels are renumbered without gaps, since not every library takes gaps; `Fitted` maps them back.

    Parameters
    ----------
    estimator
        Unfitted.
    windows, labels
        ``(n_windows, n_channels, n_times)`` float32, and the class of each, below ``n_classes``.
    n_classes
        Number of classes of the dataset, those without a window included.
    validation
        Windows and labels for an estimator that takes them; those of a class without a training window are left out,
        since no estimator can score them.

    Raises
    ------
    DataError
        Windows or labels are of the wrong type or shape, not finite, or of a single class.
    ModelError
        The object is no estimator, or its ``classes_`` are not those it was given.
    """
    require_estimator(estimator)
    _require_windows(windows)
    _require_labels(labels, len(windows), n_classes)
    classes, numbered = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise DataError(
            f"all {len(labels)} training windows are of class {classes[0]}; an estimator needs two classes"
        )
    shown = _shown(estimator, validation, classes, n_classes) if validation else {}
    estimator.fit(_laid_out(estimator, windows), numbered, **shown)
    _require_classes(estimator, len(classes))
    n_validation = len(shown.get("y_val", ()))
    return Fitted(estimator, classes, n_classes, (windows.shape[1], windows.shape[2]), n_validation)


def require_estimator(estimator: Any) -> None:
    """Refuse an object that lacks a method of the contract.

    Raises
    ------
    ModelError
        A class instead of an instance, or a method is missing; the message names it.
    """
    if isinstance(estimator, type):
        raise ModelError(f"{estimator.__name__} is a class; an estimator is an instance of one")
    for method in _REQUIRED:
        if not _has(estimator, method):
            remedy = "write it" if method == "fit" else "derive the class from sklearn.base.BaseEstimator"
            raise ModelError(f"{_name(estimator)} has no method {method}; {remedy}")
    if not any(_has(estimator, method) for method in _OUTPUTS):
        raise ModelError(
            f"{_name(estimator)} has neither {' nor '.join(_OUTPUTS)}; labels alone do not rank windows, wrap it in "
            "sklearn.calibration.CalibratedClassifierCV"
        )


def layout_of(estimator: Any) -> Layout:
    """Tell whether an estimator is fed windows or flattened ones.

    Raises
    ------
    ModelError
        Its ``window_layout`` is neither.
    """
    layout = getattr(estimator, "window_layout", None)
    if layout in ("windows", "flat"):
        return layout
    if layout is not None:
        raise ModelError(f"{_name(estimator)}.window_layout is {layout!r}; it has to be 'windows' or 'flat'")
    if steps := getattr(estimator, "steps", None):
        return layout_of(steps[0][1])
    if not hasattr(estimator, "__sklearn_tags__"):
        return "windows"
    return "windows" if estimator.__sklearn_tags__().input_tags.three_d_array else "flat"


def takes_validation(estimator: Any) -> bool:
    """Tell whether ``fit`` names the arguments ``X_val`` and ``y_val``, and has a use for them.

    scikit-learn's gradient boosting refuses a validation part if it does not stop early.
    """
    named = {"X_val", "y_val"} <= set(inspect.signature(estimator.fit).parameters)
    return named and getattr(estimator, "early_stopping", None) is not False


def _shown(
    estimator: Any, validation: tuple[Windows, Labels], classes: Labels, n_classes: int
) -> dict[str, NDArray]:
    """Return the arguments with the validation windows of the classes that the estimator is fitted on."""
    windows, labels = validation
    known = np.isin(labels, classes)
    if not (takes_validation(estimator) and known.any()):
        return {}
    _require_windows(windows)
    _require_labels(labels, len(windows), n_classes)
    return {
        "X_val": _laid_out(estimator, windows[known]),
        "y_val": np.searchsorted(classes, labels[known]),
    }


def _laid_out(estimator: Any, windows: Windows) -> NDArray[np.float32]:
    return windows.reshape(len(windows), -1) if layout_of(estimator) == "flat" else windows


def _has(estimator: Any, method: str) -> bool:
    return callable(getattr(estimator, method, None))


def _name(estimator: Any) -> str:
    return type(estimator).__name__


def _require_windows(windows: Windows) -> None:
    if windows.ndim != 3 or 0 in windows.shape:
        raise DataError(
            f"windows of shape {windows.shape}, expected (n_windows, n_channels, n_times), none of them 0"
        )
    if windows.dtype != np.float32:
        raise DataError(f"windows are {windows.dtype}; estimators are given float32, convert them first")
    if not np.isfinite(windows).all():
        n_bad = np.count_nonzero(~np.isfinite(windows).all(axis=(1, 2)))
        raise DataError(f"{n_bad} of {len(windows)} windows hold numbers that are not finite; leave them out")


def _require_labels(labels: Labels, n_windows: int, n_classes: int) -> None:
    if labels.shape != (n_windows,) or not np.issubdtype(labels.dtype, np.integer):
        raise DataError(
            f"labels are {labels.dtype} of shape {labels.shape}, expected integers of shape ({n_windows},)"
        )
    outside = labels[(labels < 0) | (labels >= n_classes)]
    if len(outside):
        raise DataError(
            f"label {outside[0]} is outside of 0 to {n_classes - 1}, the labels of {n_classes} classes"
        )


def _require_classes(estimator: Any, n_fitted: int) -> None:
    """Refuse columns in another order than that of the labels; an estimator without ``classes_`` is trusted."""
    order = getattr(estimator, "classes_", None)
    if order is not None and not np.array_equal(np.asarray(order), np.arange(n_fitted)):
        raise ModelError(
            f"{_name(estimator)}.classes_ is {np.asarray(order).tolist()} after fitting labels 0 to {n_fitted - 1}; it "
            "has to list them in ascending order"
        )


def _require_probabilities(output: NDArray[np.float64], what: str) -> None:
    if output.min() < 0:
        raise ModelError(f"{what} gives {output.min():.3g}; a probability is not negative")
    worst = output.sum(axis=1)[np.abs(output.sum(axis=1) - 1).argmax()]
    if abs(worst - 1) > _SUM_TOLERANCE:
        raise ModelError(f"{what} gives a row that sums to {worst:.3g}; probabilities of a window sum to 1")
