"""Prints a percentile of a step, in microseconds: python3 percentile.py run.ssdg STEP_ID 99.9"""
import sqlite3, sys, zlib
from math import ceil

def buckets(blob):
    """Yields the highest value of each occupied bucket, in nanoseconds, with its count."""
    payload = zlib.decompress(blob[8:])[40:]  # the outer cookie and length; the inner header
    at = bucket = 0
    while at < len(payload):
        number = shift = 0
        while True:  # ZigZag LEB128; the ninth byte carries eight bits
            byte = payload[at]
            at += 1
            number |= (byte if shift == 56 else byte & 0x7F) << shift
            shift += 7
            if shift > 56 or byte < 0x80:
                break
        count = number >> 1 ^ -(number & 1)
        if count <= 0:  # a run of empty buckets
            bucket += max(1, -count)
            continue
        octave = max(0, (bucket >> 10) - 1)  # 2,048 exact values, then 1,024 for each octave
        yield ((bucket - (octave << 10)) << octave) + (1 << octave) - 1, count
        bucket += 1

path, step, percent = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
merged, total, highest = {}, 0, 0
for ios, most, blob in sqlite3.connect(path).execute(
        "SELECT ios, lat_max_ns, lat_histogram FROM interval WHERE step_id = ?", (step,)):
    total += ios
    highest = max(highest, most or 0)
    for value, count in buckets(blob) if blob else ():
        merged[value] = merged.get(value, 0) + count
rank = max(1, ceil(percent / 100 * total))
seen = 0
for value in sorted(merged) if rank < total else ():
    seen += merged[value]
    if seen >= rank:
        print(min(value, highest) / 1e3)
        break
else:
    print("not available: no request lies beyond it")
