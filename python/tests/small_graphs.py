"""Model files written by hand, for tests: no package that writes ONNX is needed."""


def onnx_of_casts(element: int) -> bytes:
    """A model file by hand, two numbers of an element type in and the same as FLOAT out: no package writes it here."""

    def field(number: int, content: bytes | int) -> bytes:
        if isinstance(content, int):
            return bytes([number << 3]) + varint(content)
        return varint(number << 3 | 2) + varint(len(content)) + content

    def varint(value: int) -> bytes:
        out = b""
        while value > 127:
            out += bytes([value & 127 | 128])
            value >>= 7
        return out + bytes([value])

    def value(name: bytes, kind: int) -> bytes:
        shape = field(1, field(2, b"N")) + field(1, field(1, 2))
        return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))

    to_float = field(1, b"to") + field(3, 1) + varint(20 << 3) + varint(2)
    cast = field(1, b"x") + field(2, b"y") + field(4, b"Cast") + field(5, to_float)
    graph = field(1, cast) + field(2, b"g") + field(11, value(b"x", element)) + field(12, value(b"y", 1))
    return field(1, 8) + field(8, field(2, 17)) + field(7, graph)
