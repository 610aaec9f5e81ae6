"""One picture: a white card of 360 x 320 with the shapes, colours and text that all pictures share."""

from __future__ import annotations

import math
from xml.sax.saxutils import escape, quoteattr

WIDTH, HEIGHT = 360, 320

INK = "#24292f"
QUIET = "#57606a"
FAINT = "#c4ccd4"
RESULT = "#d55e00"
MEMBERS = ["#0072b2", "#009e73", "#b0578d", "#56789a", "#8a6d00"]

Point = tuple[float, float]


def number(value: float) -> str:
    """At most one decimal: a tenth of a pixel is not seen, and rounding on other processors is not either."""
    text = f"{value:.1f}"
    return {"-0.0": "0"}.get(text, text.removesuffix(".0"))


def mixed(from_colour: str, to_colour: str, share: float) -> str:
    """The colour at this share of the way."""
    ends = [[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (from_colour, to_colour)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*ends, strict=True))


class Canvas:
    """Shapes in pixels, y downwards, in the order in which they are drawn."""

    def __init__(self, title: str, description: str):
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="12" '
            f'fill="{INK}">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(description)}</desc>",
            f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8" fill="#ffffff" stroke="{FAINT}"/>',
        ]

    def add(self, tag: str, content: str = "", **attributes: object) -> None:
        """An element; a name's _ is a -, and numbers are rounded."""
        written = "".join(
            f" {key.rstrip('_').replace('_', '-')}="
            + quoteattr(number(value) if isinstance(value, int | float) else str(value))
            for key, value in attributes.items()
        )
        self._parts.append(f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>")

    def line(self, a: Point, b: Point, colour: str = FAINT, width: float = 1, **more: object) -> None:
        self.add("line", x1=a[0], y1=a[1], x2=b[0], y2=b[1], stroke=colour, stroke_width=width, **more)

    def path(self, points: list[Point], colour: str = INK, width: float = 1.5, **more: object) -> None:
        spelled = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.add("polyline", points=spelled, fill="none", stroke=colour, stroke_width=width, **more)

    def area(self, points: list[Point], fill: str, **more: object) -> None:
        spelled = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self.add("polygon", points=spelled, fill=fill, **more)

    def arrow(self, a: Point, b: Point, colour: str, width: float = 2, head: float = 8) -> None:
        length = math.dist(a, b)
        if length < 1:
            return
        along = ((b[0] - a[0]) / length, (b[1] - a[1]) / length)
        head = min(head, length)
        back = (b[0] - head * along[0], b[1] - head * along[1])
        side = (-along[1] * head * 0.4, along[0] * head * 0.4)
        self.line(a, back, colour, width)
        self.area([b, (back[0] + side[0], back[1] + side[1]), (back[0] - side[0], back[1] - side[1])], colour)

    def dot(self, at: Point, colour: str = RESULT, radius: float = 5.5) -> None:
        self.add("circle", cx=at[0], cy=at[1], r=radius, fill=colour, stroke="#ffffff")

    def ring(self, at: Point, colour: str = INK, radius: float = 4.5, fill: str = "#ffffff") -> None:
        self.add("circle", cx=at[0], cy=at[1], r=radius, fill=fill, stroke=colour, stroke_width=1.5)

    def square(self, at: Point, colour: str = INK, half: float = 3.5) -> None:
        self.add("rect", x=at[0] - half, y=at[1] - half, width=2 * half, height=2 * half, fill="#ffffff", stroke=colour)

    def text(self, at: Point, words: str, colour: str = INK, anchor: str = "start", **more: object) -> None:
        """Words, their line through `at` halfway up the small letters; "phi_1" becomes the Greek letter's index."""
        content = escape(words)
        for index in "12":
            sunk = f'φ<tspan dy="3" font-size="9">{index}</tspan>'
            content = content.replace(f"phi_{index}", sunk)
        self.add("text", content, x=at[0], y=at[1] + 4, text_anchor=anchor, fill=colour, **more)

    def legend(self, entries: list[tuple[str, str]], y: float = 303) -> None:
        """Marks with words, centred in one line; a mark is dot, ring, square, diamond, dash, arrow or empty."""
        widths = [(18 if mark else 0) + 13 * len(words) // 2 for mark, words in entries]
        x = (WIDTH - sum(widths) - 16 * (len(entries) - 1)) // 2
        for (mark, words), width in zip(entries, widths, strict=True):
            at = (x + 6, y)
            if mark == "dot":
                self.dot(at)
            elif mark == "ring":
                self.ring(at)
            elif mark == "square":
                self.square(at)
            elif mark == "diamond":
                self.diamond(at, 6)
            elif mark == "dash":
                self.line((x - 1, y), (x + 14, y), INK, 1.2, stroke_dasharray="4 3")
            elif mark == "arrow":
                self.arrow((x - 3, y), (x + 13, y), INK, 1.6, 7)
            self.text((x + (18 if mark else 0), y), words, QUIET)
            x += width + 16

    def diamond(self, at: Point, half: float) -> None:
        """The points of one l1 norm around `at`."""
        around = [(at[0] + half, at[1]), (at[0], at[1] + half), (at[0] - half, at[1]), (at[0], at[1] - half)]
        self.area(around, "#ffffff", stroke=INK, stroke_width=1.2)

    def svg(self) -> str:
        return "\n".join([*self._parts, "</svg>", ""])
