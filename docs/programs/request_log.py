"""Prints a request log: time, latency (ns), direction, offset, bytes: python3 request_log.py FILE"""
import json, struct, sys
file = open(sys.argv[1], "rb")
assert file.read(8) == b"SSDGIOS2"
while head := file.read(40):
    kind, load, stream, thread, length, base, lost, count, _ = struct.unpack("<IIHHIQQII", head)
    if kind == 1:
        workload = json.loads(file.read(count))
        print(f"# load {load}: {workload}")
    sizes = [length] + [one["size"] for one in workload["streams"][stream].get("sizes", [])]
    for low, high in struct.iter_unpack("<QQ", file.read(16 * count) if kind == 2 else b""):
        latency = low >> 32 | (high & 0xFF) << 32
        direction = ["read", "write", "flush", "trim"][high >> 8 & 3]
        print(base + (low & 0xFFFFFFFF), latency, direction, (high >> 19) * 512, sizes[high >> 10 & 0x1FF])
