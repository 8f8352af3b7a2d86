"""Asks Spark the questions of docs/fleet.sql and compares its answers with those of DuckDB.

    python3 -m venv SPARK && SPARK/bin/pip install pyspark duckdb
    SPARK/bin/python tests/python/spark.py FOLDER [TABLES]

FOLDER has the tables of `ssdgauge export --parquet FOLDER/runs-tables RUNS`, or FOLDER/TABLES. Spark needs Java; without
Java or pyspark the script says so and ends with 0. It ends with 1 where an answer differs.
"""

import math
import os
import pathlib
import shutil
import sys
import time

THREADS = 2

# The questions in the SQL of Spark. Percentiles of all requests: histograms are added, percentiles are not.
ALIKE = "suite_id, suite_revision, shortened, model, firmware, capacity_bytes, drive_kind, model_data"
TEST = f"{ALIKE}, test_id, test_revision, metric, unit"
LOAD = f"{ALIKE}, test_id, test_revision, step, direction"
COMPARABLE = "complete AND NOT invalid AND imported_from IS NULL"
HEADLINES = f"value WHERE step = 'headline' AND value IS NOT NULL AND {COMPARABLE}"
SPARK = {
    "headline": f"""
        SELECT {TEST}, count(*) AS runs,
               percentile(value, 0.5) AS median, min(value) AS least, max(value) AS most
        FROM {HEADLINES} GROUP BY {TEST}""",
    "outlier": f"""
        WITH medians AS (
            SELECT {TEST}, count(*) AS runs, percentile(value, 0.5) AS median FROM {HEADLINES} GROUP BY {TEST}
        ), one AS (SELECT * FROM {HEADLINES})
        SELECT one.serial, one.run_id, {", ".join("one." + key for key in TEST.split(", ")[:-1])},
               one.value, medians.median, one.value / medians.median - 1 AS difference
        FROM one JOIN medians ON {" AND ".join(f"one.{key} <=> medians.{key}" for key in TEST.split(", "))}
        WHERE medians.runs >= 5 AND abs(one.value / medians.median - 1) > 0.1""",
    "firmware": """
        SELECT model, suite_id, shortened, capacity_bytes, test_id, metric, firmware, runs, median,
               median / first_value(median) OVER (
                   PARTITION BY suite_id, suite_revision, shortened, model, capacity_bytes, drive_kind, model_data,
                                test_id, test_revision, metric, unit ORDER BY firmware) - 1 AS change
        FROM headline""",
    "percentile": f"""
        WITH bucket AS (
            SELECT {LOAD}, max_ns, inline(arrays_zip(bucket_ns, bucket_requests)) FROM step WHERE {COMPARABLE}
        ), added AS (
            SELECT {LOAD}, bucket_ns AS ns, sum(bucket_requests) AS requests, max(max_ns) AS max_ns
            FROM bucket GROUP BY {LOAD}, bucket_ns
        ), ranked AS (
            SELECT *, sum(requests) OVER (PARTITION BY {LOAD} ORDER BY ns) AS seen,
                   sum(requests) OVER (PARTITION BY {LOAD}) AS total,
                   max(max_ns) OVER (PARTITION BY {LOAD}) AS longest
            FROM added
        )
        SELECT {LOAD}, least(min(ns), any_value(longest)) / 1000.0D AS latency_us
        FROM ranked WHERE seen >= ceil(0.999 * total) GROUP BY {LOAD}""",
}
DUCKDB = {
    "headline": "SELECT * FROM headline",
    "outlier": "SELECT * EXCLUDE (started) FROM outlier",
    "firmware": "SELECT * FROM firmware",
    "percentile": "SELECT * FROM percentile(0.999)",
}


def main():
    folder = pathlib.Path(sys.argv[1])
    tables = sys.argv[2] if len(sys.argv) > 2 else "runs-tables"
    try:
        import duckdb
        from pyspark.sql import SparkSession
    except ImportError as error:
        print(f"skipped: {error}")
        return
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        print("skipped: no Java")
        return
    sql = (pathlib.Path(__file__).parents[2] / "docs" / "fleet.sql").read_text()
    os.chdir(folder)
    connection = duckdb.connect(config={"threads": THREADS})
    connection.execute(sql.replace("runs-tables", tables))
    began = time.monotonic()
    session = (
        SparkSession.builder.master(f"local[{THREADS}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", str(4 * THREADS))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    for name in ("value", "step"):
        files = session.read.option("recursiveFileLookup", "true").parquet(f"{tables}/{name}")
        files.createOrReplaceTempView(name)
    print(f"Spark {session.version}: started, and the files listed, in {time.monotonic() - began:.1f} s")
    print("| Question | rows | Spark, s | DuckDB, s | equal |")
    print("|---|--:|--:|--:|---|")
    differ = 0
    for name, question in SPARK.items():
        theirs, took = timed(lambda: [tuple(row) for row in session.sql(question).collect()])
        ours, reference = timed(lambda: connection.execute(DUCKDB[name]).fetchall())
        if name == "headline":
            session.sql(question).createOrReplaceTempView("headline")
        is_equal = equal(ours, theirs)
        differ += not is_equal
        print(f"| `{name}` | {len(ours)} | {took:.1f} | {reference:.1f} | {'yes' if is_equal else 'no'} |")
    session.stop()
    sys.exit(1 if differ else 0)


def timed(work):
    began = time.monotonic()
    answer = work()
    return answer, time.monotonic() - began


def equal(ours, theirs):
    """Whether both answers have the same rows: texts and counts exactly, numbers to 12 digits."""

    def key(row):
        return [str(cell) for cell in row if not isinstance(cell, float)]

    def same(one, other):
        if isinstance(one, float) or isinstance(other, float):
            return math.isclose(float(one), float(other), rel_tol=1e-12, abs_tol=1e-12)
        return one == other

    ours, theirs = sorted(ours, key=key), sorted(theirs, key=key)
    rows = zip(ours, theirs)
    return len(ours) == len(theirs) and all(
        len(one) == len(other) and all(map(same, one, other)) for one, other in rows
    )


if __name__ == "__main__":
    main()
