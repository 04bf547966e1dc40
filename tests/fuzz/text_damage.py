"""Damage to bytes of text files: to bytes, to fields, to lines, to the whole."""

PIECES = [
    *(b"", b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", "\u2028".encode(), "\x85".encode(), "\ufffd".encode()),
    *(b"\t", b" ", b"\n", b"\n\n", b"\r", b"\r\n", b'"', b'""', b"'", b",", b":", b"_", b"#", b"\\", b"\\ud800"),
    *(b"0", b"1", b"2", b"-1", b"1.5", b"01", b"1-2", b"3.1", b"9" * 30, b"9" * 5000, b"1e999", b"NaN", b"Infinity"),
    *(b"null", b"true", b"[]", b"{}", b"[", b"]", b"}", b"[" * 2000, "²".encode(), "٣".encode(), "ł".encode()),
]


def flip_bit(text: bytes, at: int, what: int) -> bytes:
    at %= max(len(text), 1)
    return text[:at] + bytes([text[at] ^ 1 << what % 8]) + text[at + 1 :] if text else text


def drop_bytes(text: bytes, at: int, what: int) -> bytes:
    at %= len(text) + 1
    return text[:at] + text[at + 1 + what % 4 :]


def insert(text: bytes, at: int, what: int) -> bytes:
    at %= len(text) + 1
    return text[:at] + PIECES[what % len(PIECES)] + text[at:]


def cut(text: bytes, at: int, what: int) -> bytes:
    return text[: at % (len(text) + 1)]


def in_lines(change):
    def damage(text: bytes, at: int, what: int) -> bytes:
        lines = text.split(b"\n")
        change(lines, at % len(lines), what)
        return b"\n".join(lines)

    damage.__name__ = change.__name__
    return damage


@in_lines
def drop_line(lines, at, what):
    del lines[at]


@in_lines
def repeat_line(lines, at, what):
    lines.insert(what % (len(lines) + 1), lines[at])


@in_lines
def swap_lines(lines, at, what):
    other = what % len(lines)
    lines[at], lines[other] = lines[other], lines[at]


def in_fields(change):
    """In a line, whose fields are separated by whichever separator it has most of."""

    def damage(lines: list[bytes], at: int, what: int) -> None:
        separator = max(b"\t", b",", b" ", key=lines[at].count)
        fields = lines[at].split(separator)
        change(fields, what % len(fields), what // len(fields))
        lines[at] = separator.join(fields)

    damage.__name__ = change.__name__
    return in_lines(damage)


@in_fields
def drop_field(fields, at, what):
    del fields[at]


@in_fields
def repeat_field(fields, at, what):
    fields.insert(at, fields[at])


@in_fields
def swap_fields(fields, at, what):
    other = what % len(fields)
    fields[at], fields[other] = fields[other], fields[at]


@in_fields
def replace_field(fields, at, what):
    fields[at] = PIECES[what % len(PIECES)]


def whole(text: bytes, at: int, what: int) -> bytes:
    """What other programs make of a file."""
    others = [
        lambda: b"\xef\xbb\xbf" + text,
        lambda: text.replace(b"\n", b"\r\n"),
        lambda: text.replace(b"\n", b"\r"),
        lambda: text.rstrip(b"\n"),
        lambda: text + text,
        lambda: b"",
        lambda: text.decode("utf-8", "replace").encode("utf-16"),
        lambda: text.decode("utf-8", "replace").encode("latin-1", "replace"),
    ]
    return others[at % len(others)]()


FIELDS = (drop_field, repeat_field, swap_fields, replace_field)
LINES = (drop_line, repeat_line, swap_lines)
BYTES = (flip_bit, drop_bytes, insert, cut)
TEXT = (*FIELDS, *LINES, *BYTES, whole)
