"""Verifies the chain of hashes of a run file: python3 chain.py run.ssdg"""
import hashlib, json, sqlite3, struct, sys

TABLES = ("run drive environment step interval reading finding property answer percentile "
          "log_page digest outcome").split()

def encoded(value):
    """Returns type, length and bytes of a value, as checksums count them."""
    kind, content = {
        type(None): lambda: (0, b""),
        int: lambda: (1, struct.pack("<q", value)),
        float: lambda: (2, struct.pack("<d", value)),
        str: lambda: (3, value.encode()),
        bytes: lambda: (4, value),
    }[type(value)]()
    return struct.pack("<BQ", kind, len(content)) + content

file = sqlite3.connect(sys.argv[1])
before, covered = bytes(32), dict.fromkeys(TABLES, 0)
for step, covers, expected in file.execute("SELECT step_id, covers, hash FROM link ORDER BY rowid"):
    covers, chain = json.loads(covers), hashlib.sha256(before)
    for table in TABLES:
        records = hashlib.sha256()
        for record in file.execute(
                f"SELECT * FROM {table} WHERE rowid > ? AND rowid <= ? ORDER BY rowid",
                (covered[table], covers[table])):
            records.update(b"".join(map(encoded, record[:-1])))
        chain.update(records.digest())
    before, covered = expected, covers
    print(step or "end", "ok" if chain.digest() == expected else "CHANGED")
