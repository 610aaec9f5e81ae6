"""The plane of two features: axes, the unit circle, members as arrows; and pictures of what lies in their middle."""

from __future__ import annotations

import math

from canvas import FAINT, INK, MEMBERS, QUIET, RESULT, WIDTH, Canvas, Point, mixed
from program import Program

CENTRE, UNIT = (180, 150), 120
DARK = "#9db3c8"


def at_angle(degrees: float) -> Point:
    return (math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))


def pixel(point: Point) -> Point:
    return (CENTRE[0] + UNIT * point[0], CENTRE[1] - UNIT * point[1])


def mean_of(points: list[Point]) -> Point:
    return (sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points))


def entropy(point: Point) -> float:
    total = abs(point[0]) + abs(point[1])
    return -sum(p * math.log(p) for p in (abs(point[0]) / total, abs(point[1]) / total) if p > 0)


class Plane(Canvas):
    """Starts with axes and circle; points are in units of the plane."""

    def __init__(self, title: str, description: str, shaded: bool = False):
        super().__init__(title, description)
        if shaded:
            self._shade_by_entropy()
            self.text((WIDTH - 14, 20), "darker: simpler", QUIET, "end")
        self.add("circle", cx=CENTRE[0], cy=CENTRE[1], r=UNIT, fill="none", stroke=FAINT)
        right, top = pixel((1.24, 0)), pixel((0, 1.17))
        self.arrow(pixel((-1.24, 0)), right, QUIET, 0.8, 6)
        self.arrow(pixel((0, -1.12)), top, QUIET, 0.8, 6)
        self.text((right[0] + 4, right[1]), "phi_1", QUIET)
        self.text((top[0] + 7, top[1] + 5), "phi_2", QUIET)

    def _shade_by_entropy(self) -> None:
        """Entropy depends on the direction alone: wedges of 5 degrees, one path for those that are alike."""
        for low in range(0, 45, 5):
            simple = 1 - entropy(at_angle(low + 2.5)) / math.log(2)
            self.add(
                "path", d="".join(self._wedge(at, at + 5) for at in mirrored(low)), fill=mixed("#ffffff", DARK, simple)
            )

    @staticmethod
    def _wedge(low: float, high: float) -> str:
        (x1, y1), (x2, y2) = pixel(at_angle(low)), pixel(at_angle(high))
        return f"M{CENTRE[0]} {CENTRE[1]}L{x1:.1f} {y1:.1f}A{UNIT} {UNIT} 0 0 0 {x2:.1f} {y2:.1f}Z"

    def members(self, members: list[Point]) -> None:
        for j, (member, colour) in enumerate(zip(members, MEMBERS, strict=False)):
            self.arrow(pixel((0, 0)), pixel(member), colour)
            self.text(pixel((member[0] * 1.12, member[1] * 1.12)), f"g{j + 1}", colour, "middle")

    def hull(self, members: list[Point]) -> None:
        """Of two or three members."""
        self.area([pixel(member) for member in members], "none", stroke=INK, stroke_width=0.8)


def mirrored(low: float) -> list[float]:
    """Where the wedges from low to low + 5 degrees that have the same entropy begin."""
    return [start for turn in range(0, 360, 90) for start in (turn + low, turn + 85 - low)]


MIDDLE = [at_angle(14), at_angle(67), at_angle(225)]


def middle_plane(program: Program, name: str, description: str) -> tuple[Plane, Point]:
    """The plane for one of the centroids, and what the program makes."""
    (made,) = program.aggregates(MIDDLE, name)
    return Plane(f"{name} in two dimensions", description), (made[0], made[1])


def mean(program: Program) -> str:
    plane, made = middle_plane(
        program, "mean", "Three members as arrows on the unit circle, and thin lines from their tips to the mean."
    )
    for member in MIDDLE:
        plane.line(pixel(member), pixel(made), QUIET, 0.9)
    plane.members(MIDDLE)
    plane.dot(pixel(made))
    plane.legend([("dot", "mean")])
    return plane.svg()


def median(program: Program) -> str:
    plane, made = middle_plane(
        program,
        "median",
        "Three members as arrows on the unit circle. Dashed lines mark the middle one of their values in each feature; "
        "the median is where the lines meet, farther from the member that is far off than the mean.",
    )
    plane.members(MIDDLE)
    first, second = MIDDLE[:2]
    assert math.dist(made, (second[0], first[1])) < 1e-6
    plane.line(pixel(second), pixel((second[0], -1.05)), INK, 1.2, stroke_dasharray="4 3")
    plane.line(pixel(first), pixel((-1.15, first[1])), INK, 1.2, stroke_dasharray="4 3")
    plane.ring(pixel(mean_of(MIDDLE)))
    plane.dot(pixel(made))
    plane.legend([("dot", "median"), ("dash", "middle values"), ("ring", "mean")])
    return plane.svg()


def geometric_median(program: Program) -> str:
    plane, made = middle_plane(
        program,
        "geometric_median",
        "Three members as arrows on the unit circle. From the geometric median arrows of the same length point at each "
        "of them: the pulls cancel, at angles of 120 degrees.",
    )
    plane.members(MIDDLE)
    for member, colour in zip(MIDDLE, MEMBERS, strict=False):
        far = math.dist(member, made)
        pull = tuple(made[k] + 0.27 * (member[k] - made[k]) / far for k in (0, 1))
        plane.line(pixel(made), pixel(member), colour, 0.9, stroke_dasharray="2 3")
        plane.arrow(pixel(made), pixel(pull), RESULT, 2, 7)
    plane.ring(pixel(mean_of(MIDDLE)))
    plane.dot(pixel(made))
    plane.legend([("dot", "geometric median: equal pulls"), ("ring", "mean")])
    return plane.svg()


def centroid(program: Program) -> str:
    powers = ["1", "1.25", "1.5", "2", "3", "4", "8", "20", "100"]
    made = [pixel((x, y)) for x, y in program.aggregates(MIDDLE, *(f"centroid:p={power}" for power in powers))]
    plane = Plane(
        "centroid in two dimensions",
        "Three members as arrows on the unit circle, and the way of the l2 centroid as its power p grows: from the "
        "geometric median at 1 past the mean at 2 towards the centre of the smallest ball around all members.",
    )
    plane.members(MIDDLE)
    plane.path(made, RESULT)
    for power, at in zip(powers, made, strict=True):
        if power in ("1", "4", "100"):
            plane.dot(at, radius=4.5)
    plane.ring(made[powers.index("2")])
    plane.text((made[0][0] + 10, made[0][1]), "p = 1", RESULT)
    plane.text((made[powers.index("4")][0] - 16, made[powers.index("4")][1] - 4), "p = 4", RESULT, "end")
    plane.text((made[-1][0] + 9, made[-1][1] + 12), "p = 100", RESULT)
    plane.legend([("dot", "centroid by l2"), ("ring", "mean, p = 2")])
    return plane.svg()


def convex(program: Program) -> str:
    weights = [0.6, 0.3, 0.1]
    (made,) = program.aggregates(MIDDLE, f"convex:weights=[{','.join(map(str, weights))}]")
    plane = Plane(
        "convex in two dimensions",
        "Three members as arrows on the unit circle. The members, shortened by the weights 0.6, 0.3 and 0.1 and put "
        "end to end, lead to the convex combination.",
    )
    plane.members(MIDDLE)
    at = (0.0, 0.0)
    for j in (2, 0, 1):
        end = (at[0] + weights[j] * MIDDLE[j][0], at[1] + weights[j] * MIDDLE[j][1])
        plane.arrow(pixel(at), pixel(end), MEMBERS[j], 1.2, 6)
        at = end
    assert math.dist(at, made) < 1e-6
    plane.ring(pixel(mean_of(MIDDLE)))
    plane.dot(pixel((made[0], made[1])))
    plane.legend([("dot", "0.6 g1 + 0.3 g2 + 0.1 g3"), ("ring", "mean")])
    return plane.svg()
