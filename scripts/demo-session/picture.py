"""Small PNG pictures."""

import base64
import struct
import zlib

PAPER, INK, ACCENT = (250, 250, 247), (70, 84, 104), (201, 92, 46)


def bar_chart(values: list[int], limit: int, width: int = 120, height: int = 48) -> dict:
    """A bar for each value, with a line across at `limit`, as the source of an image part."""
    highest = max([*values, limit])
    bar = width // len(values)
    limit_row = height - 1 - (height - 1) * limit // highest
    rows = []
    for row in range(height):
        pixels = bytearray()
        for column in range(width):
            value = values[min(column // bar, len(values) - 1)]
            inside = column % bar < bar - 1 and (height - row) * highest <= value * height
            pixels += bytes(ACCENT if row == limit_row else INK if inside else PAPER)
        rows.append(bytes(pixels))
    data = base64.b64encode(_png(width, height, rows)).decode("ascii")
    return {"type": "base64", "data": data, "media_type": "image/png"}


def _png(width: int, height: int, rows: list[bytes]) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
