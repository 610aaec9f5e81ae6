"""Pictures of the complexity family: the plane shaded by entropy, darker where it is less."""

from __future__ import annotations

import itertools
import math

from canvas import INK, MEMBERS, RESULT, Point
from plane import UNIT, Plane, at_angle, entropy, mean_of, pixel
from program import Program

FLOOR = 0.05  # the default of the option
LEAST_FALL = 1e-12

CROSSING = [at_angle(35), at_angle(60), at_angle(165)]


def near(a: Point, b: Point) -> bool:
    return math.dist(a, b) < 1e-6


def floor_of(members: list[Point]) -> float:
    return FLOOR * sum(math.hypot(x, y) for x, y in members) / len(members)


def on_axis(a: Point, b: Point, k: int) -> Point:
    """Where the segment has feature k at 0."""
    t = a[k] / (a[k] - b[k])
    other = (1 - t) * a[1 - k] + t * b[1 - k]
    return (0.0, other) if k == 0 else (other, 0.0)


def on_axes(a: Point, b: Point) -> list[Point]:
    """All places where some feature changes its sign between the two."""
    return [on_axis(a, b, k) for k in (0, 1) if a[k] * b[k] < 0]


def simplest_on_segment(a: Point, b: Point) -> Point:
    """An end, or where a feature is 0: entropy is least at one of them."""
    return min([a, b, *on_axes(a, b)], key=entropy)


def walk(start: Point, target: Point, floor: float) -> list[Point]:
    """The points of an exact walk: feature by feature, to the target or to 0 on the way, while entropy falls."""
    points = [start]
    moved = True
    while moved:
        moved = False
        for k in (0, 1):
            here = points[-1]
            goals = [target[k], 0.0] if here[k] * target[k] < 0 else [target[k]]
            reached = [(goal, here[1]) if k == 0 else (here[0], goal) for goal in goals]
            reached = [at for at in reached if abs(at[0]) + abs(at[1]) >= floor]
            best = min(reached, key=entropy, default=here)
            if entropy(best) < entropy(here) - LEAST_FALL:
                points.append(best)
                moved = True
    return points


def all_walks(points: list[Point], mean: Point, floor: float) -> list[list[Point]]:
    """Of each point the walk to the mean and the one back."""
    return [walk(a, b, floor) for point in points for a, b in ((point, mean), (mean, point))]


def draw_walk(plane: Plane, points: list[Point], colour: str) -> None:
    for a, b in itertools.pairwise(points):
        plane.arrow(pixel(a), pixel(b), colour, 1.6, 7)


def region_shrinking(program: Program) -> str:
    members = CROSSING
    (made,) = program.aggregates(members, "region_shrinking")
    minima = [simplest_on_segment(a, b) for a, b in itertools.combinations(members, 2)]
    assert any(near(made, point) for point in minima) and entropy(made) <= min(map(entropy, minima)) + 1e-9
    plane = Plane(
        "region_shrinking in two dimensions",
        "Three members as arrows on the unit circle and the segments between them. Squares mark the simplest point of "
        "each segment, an end or where it meets an axis; one of those on the axis is the result.",
        shaded=True,
    )
    plane.hull(members)
    plane.members(members)
    plane.ring(pixel(mean_of(members)))
    for point in minima:
        plane.square(pixel(point))
    plane.dot(pixel((made[0], made[1])))
    plane.legend([("dot", "result"), ("square", "simplest of a segment"), ("ring", "mean")])
    return plane.svg()


def gradient_descent_style(program: Program) -> str:
    members = CROSSING
    (made,) = program.aggregates(members, "gradient_descent_style")
    mean = mean_of(members)
    walks = all_walks(members, mean, floor_of(members))
    simplest = min((points[-1] for points in walks), key=entropy)
    assert near(made, simplest)
    plane = Plane(
        "gradient_descent_style in two dimensions",
        "Three members as arrows on the unit circle, and the walks from each of them towards the mean and back, one "
        "feature at a time. The simplest point that a walk reaches lies on an axis, outside of the members' hull.",
        shaded=True,
    )
    plane.hull(members)
    plane.members(members)
    for points, colour in zip(walks, [colour for each in MEMBERS for colour in (each, INK)], strict=False):
        draw_walk(plane, points, colour)
    plane.ring(pixel(mean))
    plane.dot(pixel((made[0], made[1])))
    plane.legend([("dot", "simplest end of a walk"), ("ring", "mean")])
    return plane.svg()


def shrink_then_descend(program: Program) -> str:
    members = CROSSING
    made, shrunk = program.aggregates(members, "shrink_then_descend", "region_shrinking")
    mean, floor = mean_of(members), floor_of(members)
    found = [point for a, b in itertools.combinations(members, 2) for point in on_axes(a, b)]
    assert any(near(shrunk, point) for point in found)
    walks = all_walks([*found, *members], mean, floor)
    ends = [points[-1] for points in walks]
    assert any(near(made, end) for end in ends) and entropy(made) <= min(map(entropy, ends)) + 1e-9
    plane = Plane(
        "shrink_then_descend in two dimensions",
        "Three members as arrows on the unit circle and the segments between them. Squares mark the points that "
        "shrinking finds, where segments meet an axis. Thin arrows are walks from these points and the members towards "
        "the mean and back, one feature at a time, none into the floor, a small diamond at the origin. The result is "
        "the simplest point that a walk reaches, here one that shrinking found.",
        shaded=True,
    )
    plane.hull(members)
    plane.members(members)
    plane.diamond(pixel((0, 0)), floor * UNIT)
    for points in walks:
        draw_walk(plane, points, INK)
    plane.ring(pixel(mean))
    for point in found:
        plane.square(pixel(point))
    plane.dot(pixel((made[0], made[1])))
    plane.legend([("dot", "result"), ("square", "shrunk"), ("ring", "mean"), ("diamond", "floor")], 292)
    plane.legend([("arrow", "walks to the mean and back")], 308)
    return plane.svg()


def minimum_complexity(program: Program) -> str:
    members = [at_angle(-40), at_angle(65), at_angle(110)]
    (made,) = program.aggregates(members, "minimum_complexity")
    corners = [*members, *(point for a, b in itertools.combinations(members, 2) for point in on_axes(a, b))]
    assert any(near(made, corner) for corner in corners)
    assert entropy(made) <= min(map(entropy, corners)) + 1e-9
    plane = Plane(
        "minimum_complexity in two dimensions",
        "Three members as arrows on the unit circle and their convex hull. Squares mark the corners of the pieces into "
        "which the axes cut it: of the simplest of them the longest is the result.",
        shaded=True,
    )
    plane.hull(members)
    plane.members(members)
    plane.ring(pixel(mean_of(members)))
    for corner in corners:
        plane.square(pixel(corner), half=3)
    plane.dot(pixel((made[0], made[1])))
    plane.legend([("dot", "result"), ("square", "corners"), ("ring", "mean")])
    return plane.svg()


def closest_simple(program: Program) -> str:
    members = [at_angle(15), at_angle(30), at_angle(70)]
    (made,) = program.aggregates(members, "closest_simple")
    mean = mean_of(members)
    ray = members[0]
    length = ray[0] * mean[0] + ray[1] * mean[1]
    assert near(made, (length * ray[0], length * ray[1]))
    plane = Plane(
        "closest_simple in two dimensions",
        "Three members as arrows on the unit circle. Points as simple as the simplest member fill wedges around the "
        "axes, whose borders are dashed; the result is the point of them that is nearest to the mean.",
        shaded=True,
    )
    for degrees in (15, 75):
        for side in (degrees, 180 - degrees):
            (x, y) = at_angle(side)
            plane.line(pixel((-x, -y)), pixel((x, y)), INK, 1, stroke_dasharray="4 3")
    plane.members(members)
    plane.line(pixel(mean), pixel((made[0], made[1])), RESULT, 1.5)
    plane.ring(pixel(mean))
    plane.dot(pixel((made[0], made[1])))
    plane.legend([("dot", "result"), ("ring", "mean"), ("dash", "as simple as g1")])
    return plane.svg()
