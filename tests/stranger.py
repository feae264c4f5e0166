"""A client written from docs/protocol.md alone, without any code of NomaDP.

It shows that the specification is sufficient. Plain Python, for one trajectory at a time.
"""

import base64
import csv
import hashlib
import io
import json
import math
import struct
from fractions import Fraction

U = 2**24


def base64url(content):
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def canonical(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        inner = (f"{canonical(name)}:{canonical(value[name])}" for name in names)
        return "{" + ",".join(inner) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def task_id(content):
    tag = hashlib.sha256(b"nomadp task v1").digest()
    return base64url(hashlib.sha256(tag + content).digest())


def read_locations(text):
    rows = list(csv.reader(io.StringIO(text, newline="")))[1:]
    return [(name, float(lat), float(lng)) for name, lat, lng in rows]


def locations_sha256(rows):
    said = b"nomadp-locations-1\n%d\n" % len(rows)
    for name, _, _ in rows:
        said += b"%d:%s" % (len(name.encode()), name.encode())
    for column in (1, 2):
        said += b"".join(struct.pack("<d", row[column] + 0.0) for row in rows)
    return hashlib.sha256(said).hexdigest()


def atlas_sha256(said):
    rows = said["journeys"]
    text = f"nomadp atlas 2\n{said['locations_sha256']}\n{said['epsilon']}\n".encode()
    text += struct.pack("<qqq", len(rows), len(rows[0]), said["near_count"])
    text += b"".join(struct.pack("<i", each) for row in rows for each in row)
    return hashlib.sha256(text).hexdigest()


def zones_sha256(said):
    text = f"nomadp-zones-1\n{said['locations_sha256']}\n{len(said['names'])}\n".encode()
    for name in said["names"]:
        text += b"%d:%s" % (len(name.encode()), name.encode())
    text += b"".join(struct.pack("<q", each) for each in said["of"])
    return hashlib.sha256(text).hexdigest()


def place(lat, lng):
    return (lat, 0.0) if abs(lat) == 90 else (lat, 180.0 if lng == -180 else lng)


def distance_km(one, other):
    one, other = place(*one), place(*other)
    lat, lng = math.radians(other[0] - one[0]) / 2, math.radians(other[1] - one[1]) / 2
    cosines = math.cos(math.radians(one[0])) * math.cos(math.radians(other[0]))
    share = math.sin(lat) ** 2 + cosines * math.sin(lng) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(min(1.0, share)))


def snapped(points, locations):
    places = [row[1:] for row in locations]
    return [
        min(range(len(places)), key=lambda k: (distance_km(point, places[k]), k))
        for point in points
    ]


def positions(n, length):
    if n <= length:
        return [min(k, n - 1) for k in range(length)]
    s = max(1, length - 1)
    return [(2 * k * (n - 1) + s) // (2 * s) for k in range(length)]


def lower_exp(x):
    term = total = 2**160
    k = 0
    while term:
        k += 1
        term = term * x.numerator // (x.denominator * k)
        total += term
    return Fraction(total, 2**160)


def heaviest(unit, x):
    return max(unit, math.floor(unit * lower_exp(x) * (1 - Fraction(1, 2**30))))


def unit_of(size, epsilon):
    unit = U
    while size * heaviest(unit, epsilon) >= 2**63:
        unit //= 2
    return unit


def atlas_weights(locations, said, epsilon, read):
    rows = said["journeys"]
    unit = unit_of(len(rows), epsilon)
    places = [row[1:] for row in locations]

    def apart_km(row):
        return sum(distance_km(places[a], places[b]) for a, b in zip(row, read, strict=True))

    order = sorted(range(len(rows)), key=lambda k: (apart_km(rows[k]), k))
    near = set(order[: said["near_count"]])
    return [heaviest(unit, epsilon) if k in near else unit for k in range(len(rows))]


def chosen(weights, word):
    target, before = word * sum(weights) >> 64, 0
    for k, weight in enumerate(weights):
        before += weight
        if before > target:
            return k
    raise AssertionError("a word is below 2^64")


def points_of(q, j):
    return (q**j - 1) // (q - 1)


class Law:
    """The law over d labels: sets of `count` labels, or points of a projective space."""

    def __init__(self, d, epsilon):
        self.d, self.heavy = d, heaviest(U, epsilon)
        self.count = self.best_count()
        listed = self.count * (2 if d <= 65_536 else 3)
        small = min(-(-d // 8), listed) <= 2048 and d * self.count <= 2**30
        self.q, self.t = (None, None) if small else self.best_space()

    def best_count(self):
        if self.d == 1:
            return 1
        m = self.d * U // (self.heavy + U)
        both = [min(max(1, w), self.d - 1) for w in (m, m + 1)]

        def variance(w):
            return Fraction((w * self.heavy + (self.d - w) * U) ** 2, w * (self.d - w))

        return min(both, key=lambda w: (variance(w), w))

    def best_space(self):
        middle = (self.heavy + U) // U
        orders = {prime(middle, 1), prime(middle, -1)}
        for k in range(1, self.d.bit_length() + 1):
            r = 2
            while r**k < self.d:
                r += 1
            orders.add(prime(r, 1))
        spaces = []
        for q in sorted(orders):
            t = 2
            while q ** (t - 1) < self.d:
                t += 1
            spaces.append((q, t))
        return min(spaces, key=lambda space: self.variance(*space))

    def in_space(self, q, t):
        """The probabilities that a report supports the true label, and any other."""
        inside, every = points_of(q, t - 1), points_of(q, t)
        p = Fraction(inside * self.heavy, inside * self.heavy + (every - inside) * U)
        g = Fraction(points_of(q, t - 2), inside)
        return p, p * g + (1 - p) * inside * (1 - g) / (every - inside)

    def variance(self, q, t):
        p, o = self.in_space(q, t)
        return (self.d * o * (1 - o) + (1 - p - o) * (p - o)) / (p - o) ** 2

    def chances(self):
        if self.q is not None:
            return self.in_space(self.q, self.t)
        d, c = self.d, self.count
        p = Fraction(c * self.heavy, c * self.heavy + (d - c) * U)
        return p, (c - p) / (d - 1) if d > 1 else Fraction(0)

    def drawn(self, label, word):
        is_true = word() < math.ceil(self.chances()[0] * 2**64)
        return (
            self.a_set(label, is_true, word)
            if self.q is None
            else self.a_point(label, is_true, word)
        )

    def a_set(self, label, is_true, word):
        n, picks = self.d - 1, self.count - is_true
        words = [word() for _ in range(self.count)] if self.d > 1 else [word()]
        held = {label} if is_true else set()
        others = []
        for k in range(picks):
            r = n - picks + k + 1
            number = words[k] * r >> 64
            others.append(r - 1 if number in others else number)
        held |= {number + (number >= label) for number in others}
        return sorted(held)

    def a_point(self, label, is_true, word):
        q, t = self.q, self.t
        words = [word() for _ in range(t - 1)]
        if is_true:
            tail = self.coordinates(words[0] * points_of(q, t - 1) >> 64, t - 1)
        else:
            tail = [each * q >> 64 for each in words]
        ways = zip(self.digits(label), tail, strict=True)
        head = (0 if is_true else 1) - sum(x * u for x, u in ways)
        return [self.number([head % q, *tail])]

    def supports(self, label, number):
        point = self.coordinates(number, self.t)
        digits = [1, *self.digits(label)]
        return sum(x * u for x, u in zip(digits, point, strict=True)) % self.q == 0

    def digits(self, label):
        return [label // self.q ** (self.t - 2 - k) % self.q for k in range(self.t - 1)]

    def coordinates(self, number, count):
        free = next(k for k in range(count) if number < points_of(self.q, k + 1))
        rest = number - points_of(self.q, free)
        digits = [rest // self.q ** (free - 1 - k) % self.q for k in range(free)]
        return [0] * (count - 1 - free) + [1] + digits

    def number(self, point):
        lead = next(k for k, each in enumerate(point) if each)
        inverse = pow(point[lead], -1, self.q)
        found = 0
        for each in point[lead + 1 :]:
            found = found * self.q + each * inverse % self.q
        return found + points_of(self.q, len(point) - 1 - lead)


def prime(start, step):
    while start < 2 or any(start % k == 0 for k in range(2, math.isqrt(start) + 1)):
        start += step
    return start


def width(size):
    return max(1, -(-(size - 1).bit_length() // 8))


def value_bytes(numbers, size, bits):
    if bits:
        return sum(1 << k for k in numbers).to_bytes(-(-size // 8), "little")
    return b"".join(each.to_bytes(width(size), "big") for each in numbers)


def sent(task_text, files, points, words, random, time, hour=None):
    """The id of the task, the numbers, and the bytes of the request."""
    task, locations = json.loads(task_text), read_locations(files["locations"])
    if canonical(task) != task_text or locations_sha256(locations) != task["locations_sha256"]:
        raise ValueError("refused")
    stream = iter([int(word, 16) for word in words])
    places = snapped([(float(lat), float(lng)) for lat, lng in points], locations)
    epsilon, name = Fraction(task["epsilon"]), task["mechanism"]["name"]
    if name == "atlas":
        book = json.loads(files["atlas"])
        if atlas_sha256(book) != task["atlas_sha256"]:
            raise ValueError("refused")
        read = [places[k] for k in positions(len(places), task["length"])]
        weights = atlas_weights(locations, book, epsilon, read)
        numbers, size, bits = [chosen(weights, next(stream))], len(weights), False
    else:
        book = json.loads(files["zones"])
        if zones_sha256(book) != task["zones_sha256"]:
            raise ValueError("refused")
        numbers, size, bits = asked(task, book, places, hour, stream, epsilon)
    if list(stream):
        raise ValueError("words were left over")
    report = {
        "report_id": base64url(bytes.fromhex(random)),
        "time": time,
        "value": base64url(value_bytes(numbers, size, bits)),
    }
    return task_id(task_text.encode()), numbers, canonical({"reports": [report]})


def asked(task, book, places, hour, stream, epsilon):
    name, zones = task["mechanism"]["name"], len(book["names"])
    if len(places) > 4096:
        places = [places[k] for k in positions(len(places), 4096)]
    if name == "visits":
        places = [places[next(stream) * len(places) >> 64]]
    first, last = book["of"][places[0]], book["of"][places[-1]]
    label = {"trips": first * zones + last, "ends": last}.get(name, first)
    d = zones**2 if name == "trips" else zones
    when = task["mechanism"]["params"].get("when")
    if when is not None:
        slots, slot = (4, hour // 6 % 4) if when == "day-part" else (7, hour // 24 % 7)
        label, d = label * slots + slot, d * slots
    law = Law(d, epsilon)
    numbers = law.drawn(label, lambda: next(stream))
    if law.q is not None:
        return numbers, points_of(law.q, law.t), False
    return numbers, d, -(-d // 8) < law.count * width(d)
