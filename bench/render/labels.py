"""Labels beside points of a figure, placed so that no two of them overlap.

Candidates lie on rings around each point, near ones first. A label takes the cheapest place that is inside the axes
and free of earlier labels; covering bubbles or lines costs more than distance.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bench.errors import BenchError
from bench.render import style

GAP_PT = 1.5
RINGS = 40
RING_STEP_PT = 3.0
DIRECTIONS = 24
LEADER_FROM_PT = 7.0
COVER_COST_PT = 60.0


Point = tuple[float, float]
Line = tuple[Point, Point]


class LabelsDoNotFitError(BenchError):
    """A figure has no room for all of its labels."""


@dataclass(frozen=True)
class Box:
    """A rectangle in points of the figure, the origin at its lower left."""

    left: float
    bottom: float
    right: float
    top: float

    def overlaps(self, other: "Box") -> bool:
        """Tell whether the rectangles share more than an edge."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.bottom < other.top
            and other.bottom < self.top
        )

    def contains(self, other: "Box") -> bool:
        """Tell whether the other lies within this one."""
        return (
            self.left <= other.left
            and self.bottom <= other.bottom
            and self.right >= other.right
            and self.top >= other.top
        )

    def crosses(self, start: "Point", end: "Point") -> bool:
        """Tell whether a line between two points passes through, tested every few points of its length."""
        steps = max(2, int(math.dist(start, end) / 2))
        for step in range(steps + 1):
            x, y = (a + (b - a) * step / steps for a, b in zip(start, end, strict=True))
            if self.left <= x <= self.right and self.bottom <= y <= self.top:
                return True
        return False

    def covers_disc(self, x: float, y: float, radius: float) -> bool:
        """Tell whether the rectangle and a disc share a point."""
        nearest_x = min(max(x, self.left), self.right)
        nearest_y = min(max(y, self.bottom), self.top)
        return math.hypot(x - nearest_x, y - nearest_y) < radius


@dataclass(frozen=True)
class Disc:
    """A bubble in points of the figure."""

    x: float
    y: float
    radius: float


def place_labels(
    discs: Sequence[Disc], sizes: Sequence[Point], inside: Box, avoid: Sequence[Line] = ()
) -> list[Box]:
    """Return a box for the label of each disc; no two overlap, and all are inside.

    Parameters
    ----------
    discs
        The bubbles, in order of importance: early ones get the better places.
    sizes
        Width and height of each label, in points.
    inside
        The area for labels.
    avoid
        Lines that labels should not cover.

    Raises
    ------
    LabelsDoNotFitError
        There is no room.
    """
    placed: list[Box] = []
    for disc, size in zip(discs, sizes, strict=True):
        free = [
            (cost, box)
            for cost, box in _candidates(disc, size)
            if inside.contains(box) and not any(box.overlaps(_grown(other)) for other in placed)
        ]
        if not free:
            raise LabelsDoNotFitError(
                f"the figure has no room for label {len(placed) + 1} of {len(discs)}; show fewer models"
            )
        placed.append(
            min(free, key=lambda choice: choice[0] + COVER_COST_PT * _n_covered(choice[1], discs, avoid))[1]
        )
    return placed


def _candidates(disc: Disc, size: tuple[float, float]) -> Iterator[tuple[float, Box]]:
    """Yield boxes around a disc with their distance from its edge in points."""
    width, height = size
    for ring in range(RINGS):
        distance = GAP_PT + ring * RING_STEP_PT
        for step in range(DIRECTIONS):
            angle = 2 * math.pi * step / DIRECTIONS
            # The point of the box that faces the disc lies on the ring.
            reach = disc.radius + distance
            x = disc.x + reach * math.cos(angle) + width / 2 * (_sign(math.cos(angle)) - 1)
            y = disc.y + reach * math.sin(angle) + height / 2 * (_sign(math.sin(angle)) - 1)
            yield distance, Box(x, y, x + width, y + height)


def _sign(value: float) -> float:
    """Return -1, 0 or 1; nearly zero counts as zero, so that labels straight above or beside are centred."""
    return 0.0 if abs(value) < 0.2 else math.copysign(1.0, value)


def _grown(box: Box) -> Box:
    return Box(box.left - GAP_PT, box.bottom - GAP_PT, box.right + GAP_PT, box.top + GAP_PT)


def _n_covered(box: Box, discs: Sequence[Disc], lines: Sequence[Line]) -> int:
    """Return how many bubbles and lines a label would lie on."""
    n_discs = sum(box.covers_disc(disc.x, disc.y, disc.radius) for disc in discs)
    return n_discs + sum(box.crosses(*line) for line in lines)


def label_points(
    axes: Any,
    points: Sequence[Point],
    radii_pt: Sequence[float],
    texts: Sequence[Any],
    avoid: Sequence[Line] = (),
) -> None:
    """Move ready-made texts of an axes beside their points, with a thin line where one ends up far away.

    Parameters
    ----------
    axes
        The axes; their limits, scale and size are final.
    points
        In data coordinates, in order of importance.
    radii_pt
        Radius of each point's marker, in points.
    texts
        One `matplotlib.text.Text` for each point, in the axes, of any position.
    avoid
        Lines, in data coordinates, that labels should not cover.
    """
    figure = axes.figure
    renderer = figure.canvas.get_renderer()
    to_pt = 72 / figure.dpi

    def in_points(point: Point) -> Point:
        x, y = axes.transData.transform(point) * to_pt
        return float(x), float(y)

    discs = [Disc(*in_points(point), radius) for point, radius in zip(points, radii_pt, strict=True)]
    lines = [(in_points(start), in_points(end)) for start, end in avoid]
    extents = [text.get_window_extent(renderer) for text in texts]
    window = axes.get_window_extent(renderer)
    inside = Box(*(float(edge) * to_pt for edge in (window.x0, window.y0, window.x1, window.y1)))
    sizes = [(extent.width * to_pt, extent.height * to_pt) for extent in extents]
    boxes = place_labels(discs, sizes, inside, lines)
    to_data = axes.transData.inverted()
    for text, disc, box in zip(texts, discs, boxes, strict=True):
        text.set(position=to_data.transform((box.left / to_pt, box.bottom / to_pt)), ha="left", va="bottom")
        _leader(axes, disc, box, to_pt)


def _leader(axes: Any, disc: Disc, box: Box, to_pt: float) -> None:
    """Draw a line from the bubble's edge to a label that is not beside it."""
    x = min(max(disc.x, box.left), box.right)
    y = min(max(disc.y, box.bottom), box.top)
    distance = math.hypot(x - disc.x, y - disc.y)
    if distance - disc.radius < LEADER_FROM_PT:
        return
    start = (disc.x + (x - disc.x) * disc.radius / distance, disc.y + (y - disc.y) * disc.radius / distance)
    to_data = axes.transData.inverted()
    ends = [to_data.transform((a / to_pt, b / to_pt)) for a, b in (start, (x, y))]
    axes.plot(*zip(*ends, strict=True), color=style.FAINT, linewidth=0.4, zorder=2.5)
