"""Measures the questions of docs/fleet.sql on many runs: sizes, times, processor times.

    ssdgauge quick sim:tlc-client --out quick.ssdg
    ssdgauge export --parquet one quick.ssdg
    "$(tests/python/setup --install)" tests/python/questions.py one FOLDER [RUNS]

The runs are copies of the one in the tables `one`, with run ids, serials and values of their own, on 20
models with two firmware versions each. FOLDER/runs-tables is used again where it exists.
"""

import os
import pathlib
import sys
import time

import duckdb

QUESTIONS = [
    ("headline", "SELECT * FROM headline"),
    ("outlier", "SELECT * FROM outlier"),
    ("firmware", "SELECT * FROM firmware"),
    ("percentile(0.999)", "SELECT * FROM percentile(0.999)"),
]
# The values that a copy has of its own.
OWN = """'r' || copy AS run_id, 'S' || copy AS serial, 'M' || copy % 20 AS model,
         'F' || copy % 2 AS firmware, 1 AS shortened"""


def generate(connection, one, folder, runs):
    for table in ("run", "value", "step", "finding"):
        values = OWN
        if table == "value":
            # A spread of 2 % between runs; one drive in a thousand is a fifth slower.
            values += """, value * (1 + 0.02 * (random() - 0.5)
                        - CASE WHEN copy % 1000 = 0 THEN 0.2 ELSE 0 END) AS value"""
        connection.execute(f"""
            COPY (SELECT * REPLACE ({values}), copy % 20 AS drive, copy AS file
                  FROM read_parquet('{one}/{table}/**/*.parquet', hive_partitioning = false),
                       range({runs}) AS copies (copy) ORDER BY drive, file)
            TO '{folder}/{table}' (FORMAT parquet, COMPRESSION gzip, PARTITION_BY (drive, file))""")


def main():
    one, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000
    sql = pathlib.Path(__file__).parents[2] / "docs" / "fleet.sql"
    tables = folder / "runs-tables"
    exists = tables.exists()
    tables.mkdir(parents=True, exist_ok=True)
    one = pathlib.Path(one).resolve()
    os.chdir(folder)
    connection = duckdb.connect(config={"threads": 2})
    if not exists:
        generate(connection, one, "runs-tables", runs)
    for table in sorted(pathlib.Path("runs-tables").iterdir()):
        files = list(table.rglob("*.parquet"))
        size = sum(file.stat().st_size for file in files)
        print(f"{table.name}: {len(files)} files, {size / 1e6:.0f} MB")
    ask(connection, sql.read_text())
    combined = pathlib.Path("combined")
    for table in ("run", "value", "step", "finding"):
        (combined / table).mkdir(parents=True, exist_ok=True)
        connection.execute(f"COPY (SELECT * FROM {table}) TO '{combined}/{table}/all.parquet'")
        print(f"{table} in one file: {(combined / table / 'all.parquet').stat().st_size / 1e6:.0f} MB")
    ask(duckdb.connect(config={"threads": 2}), sql.read_text().replace("runs-tables", "combined"))


def ask(connection, sql):
    connection.execute(sql)
    print("| question | rows | time, s | processor time, s |")
    print("|---|--:|--:|--:|")
    for name, question in QUESTIONS:
        took = []
        for _ in range(3):
            began, cpu = time.monotonic(), sum(os.times()[:2])
            connection.execute(f"CREATE OR REPLACE TEMP TABLE answer AS {question}")
            took.append((time.monotonic() - began, sum(os.times()[:2]) - cpu))
        wall, cpu = sorted(took)[1]
        rows = connection.execute("SELECT count(*) FROM answer").fetchone()[0]
        print(f"| `{name}` | {rows} | {wall:.1f} | {cpu:.1f} |")


if __name__ == "__main__":
    main()
