"""The test parts that are simulated, in the order of the table.

Spreads of the first two are those under which intervals over subjects alone were found wanting: two equally good
models, 61 subjects and a deviation of 2.0 points between seeds; 3,519 subjects and 2.7 points.
"""

from scipy.special import expit

from benchmarks.coverage.simulate import Setting

CENTRAL = 4
"""The first of the settings, in which intervals must hold what they promise."""

MANY = 1000
"""From this number of subjects on, fewer studies are simulated."""

SETTINGS = (
    Setting("61 subjects, seed SD 2.0", (30, 31), 325, (0.8, 0.8), 0.02, 0.10, 0.037, 0.063),
    Setting(
        "3,519 subjects, seed SD 2.7", (1800, 700, 500, 400, 119), 11, (0.7,) * 5, 0.027, 0.2, 0.03, 0.03
    ),
    Setting("20 subjects, seed SD 2.0", (10, 10), 300, (0.75, 0.75), 0.02, 0.12, 0.04, 0.06),
    Setting(
        "18 subjects of 3 classes, seed SD 0.9", (7, 6, 5), 790, (0.6, 0.5, 0.5), 0.009, 0.15, 0.05, 0.06
    ),
    Setting("61 subjects, 52 to 9, skewed", (52, 9), 325, (2.0, 0.5), 0.2, 1.2, 0.5, 0.5, link=expit),
    Setting(
        "20 subjects, 12 to 5 to 3, skewed", (12, 5, 3), 300, (1.5, 0.5, 0.0), 0.1, 1.0, 0.4, 0.5, link=expit
    ),
    Setting("20 subjects, sizes 1 to 5", (10, 10), 300, (0.75, 0.75), 0.02, 0.12, 0.04, 0.06, windows_sd=0.8),
    Setting("20 subjects, scores near 95", (10, 10), 300, (4.0, 3.0), 0.2, 1.0, 0.4, 0.4, link=expit),
    Setting("61 subjects, seeds alike", (30, 31), 325, (0.8, 0.8), 0.0, 0.10, 0.0, 0.063),
    Setting("61 subjects, two seeds", (30, 31), 325, (0.8, 0.8), 0.02, 0.10, 0.037, 0.063, n_seeds=2),
    Setting(
        "61 subjects, one in 8 fails",
        (30, 31),
        300,
        (0.9, 0.9),
        0.02,
        0.04,
        0.02,
        0.02,
        failing=0.125,
        drop=0.6,
    ),
    Setting(
        "20 subjects, one in 8 fails",
        (10, 10),
        300,
        (0.9, 0.9),
        0.02,
        0.04,
        0.02,
        0.02,
        failing=0.125,
        drop=0.6,
    ),
    Setting(
        "9 subjects, one in 8 fails", (5, 4), 300, (0.9, 0.9), 0.02, 0.04, 0.02, 0.02, failing=0.125, drop=0.6
    ),
    Setting(
        "4 subjects, one in 8 fails", (2, 2), 300, (0.9, 0.9), 0.02, 0.04, 0.02, 0.02, failing=0.125, drop=0.6
    ),
    Setting("4 subjects, none fails", (2, 2), 250, (0.75, 0.75), 0.02, 0.12, 0.04, 0.06),
    Setting("61 subjects, one seed", (30, 31), 325, (0.8, 0.8), 0.02, 0.10, 0.037, 0.063, n_seeds=1),
    Setting(
        "3,519 subjects, one seed",
        (1800, 700, 500, 400, 119),
        11,
        (0.7,) * 5,
        0.027,
        0.2,
        0.1,
        0.1,
        n_seeds=1,
    ),
)
