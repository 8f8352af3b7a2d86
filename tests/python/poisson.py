"""Writes a trace with Poisson arrivals in two forms: FOLDER/poisson.trace (MQSim) and .iolog (fio, version 3).

    python3 tests/python/poisson.py FOLDER [REQUESTS [PER_SECOND]]

70 % reads, 4 KiB, random over 60,000 blocks; the same with every call.
"""

import pathlib
import random
import sys

BLOCKS = 60_000


def main():
    folder = pathlib.Path(sys.argv[1])
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 60_000
    per_second = float(sys.argv[3]) if len(sys.argv) > 3 else 20_000.0
    chance = random.Random(7)
    at = 0.0
    with open(folder / "poisson.trace", "w") as mqsim, open(folder / "poisson.iolog", "w") as fio:
        fio.write("fio version 3 iolog\n0 DEV add\n0 DEV open\n")
        for _ in range(requests):
            at += chance.expovariate(per_second)
            offset = chance.randrange(BLOCKS) * 4096
            reads = chance.random() < 0.7
            mqsim.write(f"{int(at * 1e9)} 0 {offset // 512} 8 {1 if reads else 0}\n")
            fio.write(f"{int(at * 1e6)} DEV {'read' if reads else 'write'} {offset} 4096\n")


if __name__ == "__main__":
    main()
