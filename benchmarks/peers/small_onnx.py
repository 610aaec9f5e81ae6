"""ONNX files in a few lines, with nothing but NumPy: the bytes of a graph from its nodes and constants.

The format is protocol buffers: each field is a key (its number and how it is coded) and its value. Only what small
networks and tree ensembles need is here. Numbers of fields are those of onnx.proto.
"""

import struct

import numpy as np

FLOAT, INTEGER = 1, 7  # element types of tensors


def varint(number):
    made = bytearray()
    number &= (1 << 64) - 1
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes([*made, number])


def field(number, value):
    """One field: whole numbers as varints, text and bytes with their length before them."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    """Text, or a list of floats, whole numbers or texts."""
    if isinstance(value, str):
        return field(1, name) + field(4, value) + field(20, 3)
    if isinstance(value[0], str):
        return field(1, name) + b"".join(field(9, each) for each in value) + field(20, 8)
    if isinstance(value[0], int):
        return field(1, name) + b"".join(field(8, each) for each in value) + field(20, 7)
    return field(1, name) + field(7, struct.pack(f"<{len(value)}f", *value)) + field(20, 6)


def node(operator, inputs, outputs, domain="", **attributes):
    made = b"".join(field(1, name) for name in inputs) + b"".join(field(2, name) for name in outputs)
    made += field(3, outputs[0]) + field(4, operator)
    made += b"".join(field(5, attribute(name, value)) for name, value in attributes.items())
    return made + field(7, domain)


def tensor(name, values):
    values = np.ascontiguousarray(values, dtype="<f4")
    return (
        b"".join(field(1, size) for size in values.shape)
        + field(2, FLOAT)
        + field(8, name)
        + field(9, values.tobytes())
    )


def table(name, columns, element=FLOAT):
    """A value with any number of rows, and so many columns where that is said."""
    sizes = field(1, field(2, "N")) + (field(1, field(1, columns)) if columns else b"")
    return field(1, name) + field(2, field(1, field(1, element) + field(2, sizes)))


def model(nodes, inputs, outputs, constants=()):
    """A whole file; nodes, inputs, outputs and constants are what the functions above gave."""
    graph = b"".join(field(1, each) for each in nodes) + field(2, "graph")
    graph += b"".join(field(5, each) for each in constants)
    graph += b"".join(field(11, each) for each in inputs) + b"".join(field(12, each) for each in outputs)
    versions = field(8, field(1, "") + field(2, 17)) + field(8, field(1, "ai.onnx.ml") + field(2, 3))
    return field(1, 8) + field(7, graph) + versions
