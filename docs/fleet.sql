-- Questions over many runs, for DuckDB: duckdb -init docs/fleet.sql
-- The tables are those of `ssdgauge export --parquet runs-tables FOLDER` (docs/fleet.md).

CREATE VIEW run AS SELECT * FROM read_parquet('runs-tables/run/**/*.parquet', hive_partitioning = false);
CREATE VIEW value AS SELECT * FROM read_parquet('runs-tables/value/**/*.parquet', hive_partitioning = false);
CREATE VIEW step AS SELECT * FROM read_parquet('runs-tables/step/**/*.parquet', hive_partitioning = false);
CREATE VIEW finding AS SELECT * FROM read_parquet('runs-tables/finding/**/*.parquet', hive_partitioning = false);

-- Headlines of each model and firmware: runs, median, and the spread between the runs.
CREATE VIEW headline AS
SELECT suite_id, suite_revision, test_id, metric, unit, model, firmware, count(*) AS runs,
       median(value) AS median, min(value) AS least, max(value) AS most
FROM value
WHERE step = 'headline' AND value IS NOT NULL AND shortened = 1
GROUP BY ALL;

-- Percentiles of all requests of a model and firmware together: histograms are added, percentiles are
-- not. The value is the highest of its bucket, as in `ssdgauge report`: below 0.1 % above the request.
CREATE MACRO percentile(share) AS TABLE
WITH bucket AS (
    SELECT suite_id, suite_revision, test_id, step, direction, model, firmware, max_ns,
           unnest(bucket_ns) AS ns, unnest(bucket_requests) AS requests
    FROM step
), added AS (
    SELECT * EXCLUDE (max_ns, requests), sum(requests) AS requests, max(max_ns) AS max_ns
    FROM bucket GROUP BY ALL
), ranked AS (
    SELECT *, sum(requests) OVER drive AS seen, sum(requests) OVER drive_all AS total,
           max(max_ns) OVER drive_all AS longest
    FROM added
    WINDOW drive AS (PARTITION BY suite_id, suite_revision, test_id, step, direction, model, firmware ORDER BY ns),
           drive_all AS (PARTITION BY suite_id, suite_revision, test_id, step, direction, model, firmware)
)
SELECT suite_id, suite_revision, test_id, step, direction, model, firmware,
       least(min(ns), any_value(longest)) / 1000.0 AS latency_us
FROM ranked WHERE seen >= ceil(share * total) GROUP BY ALL;

-- Drives whose headline is more than 10 % from the median of their model and firmware.
CREATE VIEW outlier AS
SELECT value.serial, value.run_id, value.started, headline.suite_id, headline.test_id, headline.metric,
       value.value, headline.median, value.value / headline.median - 1 AS difference
FROM value JOIN headline USING (suite_id, suite_revision, test_id, metric, model)
WHERE value.step = 'headline' AND headline.runs >= 5
  AND value.firmware IS NOT DISTINCT FROM headline.firmware
  AND abs(value.value / headline.median - 1) > 0.1;

-- Change of the headlines of a model over its firmware versions.
CREATE VIEW firmware AS
SELECT model, suite_id, test_id, metric, firmware, runs, median,
       median / first_value(median) OVER (PARTITION BY model, suite_id, test_id, metric ORDER BY firmware) - 1
           AS change
FROM headline;
