"""Measures the questions of docs/fleet.sql on many runs: sizes, times, processor times.

    ssdgauge quick sim:tlc-client --out quick.ssdg
    cargo run --release -p ssdgauge-tools -- many_runs quick.ssdg FOLDER/runs-tables
    "$(tests/python/setup --install)" tests/python/questions.py FOLDER

DuckDB asks with the views of docs/fleet.sql, Polars with the same questions below; both have two threads.
"""

import os
import pathlib
import sys
import time

# Before the import: Polars reads it there.
os.environ.setdefault("POLARS_MAX_THREADS", "2")

import duckdb
import polars

QUESTIONS = [
    ("headline", "SELECT * FROM headline"),
    ("outlier", "SELECT * FROM outlier"),
    ("firmware", "SELECT * FROM firmware"),
    ("percentile(0.999)", "SELECT * FROM percentile(0.999)"),
]
def main():
    folder = pathlib.Path(sys.argv[1])
    sql = (pathlib.Path(__file__).parents[2] / "docs" / "fleet.sql").read_text()
    os.chdir(folder)
    for table in sorted(pathlib.Path("runs-tables").iterdir()):
        files = list(table.rglob("*.parquet"))
        size = sum(file.stat().st_size for file in files)
        print(f"{table.name}: {len(files)} files, {size / 1e6:.0f} MB")
    connection = duckdb.connect(config={"threads": 2})
    ask(connection, sql)
    combined = pathlib.Path("combined")
    for table in ("run", "value", "step", "finding"):
        (combined / table).mkdir(parents=True, exist_ok=True)
        copy = f"COPY {table} TO '{combined}/{table}/all.parquet'"
        _, wall, cpu = measured(lambda: connection.execute(copy))
        size = (combined / table / "all.parquet").stat().st_size / 1e6
        print(f"{table} in one file: {size:.0f} MB, {wall:.1f} s, {cpu:.1f} s of processor time")
    ask(duckdb.connect(config={"threads": 2}), sql.replace("runs-tables", "combined"))
    with_polars("combined")


def measured(work):
    """The rows of an answer, and the median of wall and processor time of three calls."""
    took = []
    for _ in range(3):
        began, cpu = time.monotonic(), sum(os.times()[:2])
        rows = work()
        took.append((time.monotonic() - began, sum(os.times()[:2]) - cpu))
    return rows, *sorted(took)[1]


def with_polars(folder):
    def table(name):
        return polars.scan_parquet(f"{folder}/{name}/**/*.parquet", hive_partitioning=False)

    alike = ["suite_id", "suite_revision", "shortened", "model", "firmware", "capacity_bytes", "drive_kind", "model_data"]
    test = [*alike, "test_id", "test_revision", "metric", "unit"]
    load = [*alike, "test_id", "test_revision", "step", "direction"]
    comparable = polars.col("complete") & ~polars.col("invalid") & polars.col("imported_from").is_null()

    def headlines():
        values = table("value").filter(
            (polars.col("step") == "headline") & polars.col("value").is_not_null() & comparable
        )
        value = polars.col("value")
        return values.group_by(test).agg(
            runs=polars.len(), median=value.median(), least=value.min(), most=value.max()
        )

    def outliers():
        values = table("value").filter((polars.col("step") == "headline") & comparable)
        both = values.join(headlines(), on=test, nulls_equal=True).filter(polars.col("runs") >= 5)
        return both.filter((polars.col("value") / polars.col("median") - 1).abs() > 0.1)

    def percentile(share):
        # Buckets are sorted within their group: exploded with the texts of their group, they would take 10 GB.
        ns, requests = polars.col("bucket_ns").explode(), polars.col("bucket_requests").explode()
        seen = requests.sort_by(ns).cum_sum()
        reached = ns.sort().filter(seen >= (share * seen.last()).ceil()).first()
        latency = polars.min_horizontal(reached, polars.col("max_ns").max())
        return table("step").filter(comparable).group_by(load).agg(latency_us=latency / 1e3)

    print("| Polars | rows | time, s | processor time, s |")
    print("|---|--:|--:|--:|")
    questions = [("headline", headlines), ("outlier", outliers), ("percentile(0.999)", lambda: percentile(0.999))]
    for name, question in questions:
        rows, wall, cpu = measured(lambda: question().collect(engine="streaming").height)
        print(f"| `{name}` | {rows} | {wall:.1f} | {cpu:.1f} |")


def ask(connection, sql):
    connection.execute(sql)
    print("| DuckDB | rows | time, s | processor time, s |")
    print("|---|--:|--:|--:|")
    for name, question in QUESTIONS:
        answer = f"CREATE OR REPLACE TEMP TABLE answer AS {question}"
        _, wall, cpu = measured(lambda: connection.execute(answer))
        rows = connection.execute("SELECT count(*) FROM answer").fetchone()[0]
        print(f"| `{name}` | {rows} | {wall:.1f} | {cpu:.1f} |")


if __name__ == "__main__":
    main()
