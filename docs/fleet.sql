-- Questions over many runs, for DuckDB: duckdb -init docs/fleet.sql
-- The tables are those of `ssdgauge export --parquet runs-tables FOLDER` (docs/reference/tables.md), version 2.

-- A folder of version 1 alone has no column `invalid`.
CREATE VIEW run AS SELECT NULL::BOOLEAN AS invalid WHERE false UNION ALL BY NAME
SELECT * FROM read_parquet('runs-tables/run/**/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE VIEW value AS SELECT * FROM read_parquet('runs-tables/value/**/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE VIEW step AS SELECT * FROM read_parquet('runs-tables/step/**/*.parquet', hive_partitioning = false, union_by_name = true);
CREATE VIEW finding AS SELECT * FROM read_parquet('runs-tables/finding/**/*.parquet', hive_partitioning = false, union_by_name = true);

-- What makes a run incomparable; NULL for a comparable one. Every question below asks comparable runs
-- alone, and compares those with equal columns of `comparable`: a run that was shortened with runs
-- that were shortened as much, a capacity with the same capacity.
CREATE MACRO incomparable(complete, invalid, imported_from) AS CASE
    WHEN complete IS NULL OR invalid IS NULL THEN 'tables of version 1: export the run again'
    WHEN NOT complete::BOOLEAN THEN 'not complete'
    WHEN invalid THEN 'a finding makes results invalid'
    WHEN imported_from IS NOT NULL THEN 'imported from another program'
END;

CREATE VIEW comparable AS
SELECT run_id, struct_pack(suite_id, suite_revision, shortened, model, firmware, capacity_bytes, drive_kind, model_data) AS alike
FROM run WHERE incomparable(complete, invalid, imported_from) IS NULL;

-- The runs in no answer, by reason: ask FROM left_out where an answer lacks runs.
CREATE VIEW left_out AS
SELECT incomparable(complete, invalid, imported_from) AS reason, count(*) AS runs
FROM run WHERE reason IS NOT NULL GROUP BY ALL;

-- Headlines of runs that are alike: runs, median, and the spread between the runs.
CREATE VIEW comparable_headline AS
SELECT run_id, started, serial, alike, test_id, test_revision, metric, unit, value
FROM value JOIN comparable USING (run_id)
WHERE step = 'headline' AND value IS NOT NULL;

CREATE VIEW headline AS
SELECT unnest(alike), test_id, test_revision, metric, unit, count(*) AS runs,
       median(value) AS median, min(value) AS least, max(value) AS most
FROM comparable_headline
GROUP BY alike, test_id, test_revision, metric, unit;

-- Percentiles of all requests of runs that are alike together: histograms are added, percentiles are
-- not. The value is the highest of its bucket, as in `ssdgauge report`: below 0.1 % above the request.
CREATE MACRO percentile(share) AS TABLE
WITH bucket AS (
    SELECT alike, test_id, test_revision, step, direction, max_ns,
           unnest(bucket_ns) AS ns, unnest(bucket_requests) AS requests
    FROM step JOIN comparable USING (run_id)
), added AS (
    SELECT * EXCLUDE (max_ns, requests), sum(requests) AS requests, max(max_ns) AS max_ns
    FROM bucket GROUP BY ALL
), ranked AS (
    SELECT *, sum(requests) OVER load AS seen, sum(requests) OVER load_all AS total,
           max(max_ns) OVER load_all AS longest
    FROM added
    WINDOW load AS (PARTITION BY alike, test_id, test_revision, step, direction ORDER BY ns),
           load_all AS (PARTITION BY alike, test_id, test_revision, step, direction)
)
SELECT unnest(alike), test_id, test_revision, step, direction,
       least(min(ns), any_value(longest)) / 1000.0 AS latency_us
FROM ranked WHERE seen >= ceil(share * total) GROUP BY alike, test_id, test_revision, step, direction;

-- Drives whose headline is more than 10 % from the median of the runs that are alike, five or more.
CREATE VIEW outlier AS
SELECT serial, run_id, started, unnest(alike), test_id, test_revision, metric, value, median,
       value / median - 1 AS difference
FROM (
    SELECT *, count(*) OVER same AS runs, median(value) OVER same AS median
    FROM comparable_headline WINDOW same AS (PARTITION BY alike, test_id, test_revision, metric, unit)
)
WHERE runs >= 5 AND abs(value / median - 1) > 0.1;

-- Change of the headlines of a model over its firmware versions.
CREATE VIEW firmware AS
SELECT model, suite_id, shortened, capacity_bytes, test_id, metric, firmware, runs, median,
       median / first_value(median) OVER (
           PARTITION BY suite_id, suite_revision, shortened, model, capacity_bytes, drive_kind, model_data,
                        test_id, test_revision, metric, unit
           ORDER BY firmware) - 1 AS change
FROM headline;
