-- Queries that compute the headlines of a run file (docs/reference/run-file.md). Load the views first; then replace
-- TEST, METRIC and so on in the query of a rule, as `ssdgauge suites SUITE` lists it.

-- views
CREATE TEMP TABLE planned AS -- what the plan says of each step
SELECT test.key AS test, phase.key AS phase, step.key AS step,
    step.value ->> 'position' AS position,
    step.value ->> '$.action.prepare.trim.span' AS trimmed,
    CASE WHEN test.value ->> 'rounds' IS NOT NULL THEN 5
        WHEN test.value ->> '$.search.repeats' AND test.value ->> '$.search.trials' = phase.key THEN 2
        ELSE 1 END AS counted
FROM run, json_each(plan, '$.tests') AS test, json_each(test.value, '$.phases') AS phase,
    json_each(phase.value, '$.steps') AS step;

CREATE TEMP VIEW attempt AS -- what counts: the last attempt, the two trials of a load, or the five rounds of a steady window
SELECT step.id, test, phase, step, test_id, label, elapsed_ns, position, trimmed, counted,
    row_number() OVER (PARTITION BY test, phase, step ORDER BY id DESC) AS back
FROM step JOIN planned USING (test, phase, step)
WHERE state = 'finished' AND phase_kind = 'measure';

CREATE TEMP VIEW transfer AS -- reads and writes, or flushes and trims where a step has neither
SELECT * FROM interval WHERE direction IN ('read', 'write') OR step_id NOT IN (
    SELECT step_id FROM interval WHERE direction IN ('read', 'write'));

CREATE TEMP VIEW point AS -- one row for each measured step, with its place in its test
SELECT test, test_id, phase, step, label, position,
    row_number() OVER (PARTITION BY test ORDER BY phase, step) AS place, iops, throughput_mb_s, lat_mean_us, power_w,
    time_s, trim_gb_s, busy_throughput_mb_s, idle_s,
    throughput_mb_s / power_w AS efficiency_mb_s_w, iops / 1e3 / power_w AS efficiency_kiops_w
FROM (
    SELECT test, test_id, phase, step, label, position,
        sum(ios) * 1e9 / sum(elapsed_ns) AS iops,
        sum(bytes) * 1e3 / sum(elapsed_ns) AS throughput_mb_s,
        sum(lat_sum_ns) / 1e3 / nullif(sum(ios), 0) AS lat_mean_us,
        iif(count(*) = count(joules), sum(joules) * 1e9 / sum(elapsed_ns), NULL) AS power_w,
        sum(bytes) * 1e3 / (sum(elapsed_ns) - sum(idle) * 1e9) AS busy_throughput_mb_s,
        avg(idle) AS idle_s,
        nullif(avg(elapsed_ns), 0) / 1e9 AS time_s,
        trimmed * 1.0 / nullif(avg(elapsed_ns), 0) AS trim_gb_s
    FROM attempt
    LEFT JOIN (SELECT step_id AS id, sum(ios) AS ios, sum(bytes) AS bytes,
        sum(lat_sum_ns) AS lat_sum_ns FROM transfer GROUP BY step_id) USING (id)
    LEFT JOIN (SELECT step_id AS id, max(value) FILTER (WHERE quantity = 'energy_j') AS joules,
        max(value) FILTER (WHERE quantity = 'idle_s') AS idle
        FROM reading JOIN step ON step.id = step_id
        WHERE quantity IN ('energy_j', 'idle_s') AND at_ns <= elapsed_ns GROUP BY step_id) USING (id)
    WHERE back <= counted GROUP BY test, phase, step);

CREATE TEMP VIEW full_second AS -- one row for each full second of the last attempt
SELECT test, test_id, position, step_id, second, sum(bytes) AS bytes,
    sum(ios) * 1.0 AS iops, sum(bytes) / 1e6 AS throughput_mb_s,
    sum(lat_sum_ns) / 1e3 / nullif(sum(ios), 0) AS lat_mean_us
FROM transfer JOIN attempt ON id = step_id
WHERE back = 1 GROUP BY step_id, second HAVING max(length_ns) = 1000000000;

-- mean_of
-- Arithmetic mean over all points, or over those at `POSITIONS` such as `1, 2, 4`.
SELECT avg(METRIC) FROM point WHERE test_id = 'TEST'
GROUP BY test HAVING count(METRIC) = count(*);

-- mean_of at
SELECT avg(METRIC) FROM point WHERE test_id = 'TEST' AND position IN (POSITIONS)
GROUP BY test HAVING count(METRIC) = count(*);

-- best_of
-- Best point (without `DESC` where less is better), chosen by the means over all repetitions; and the point at a
-- position.
WITH mean AS (
    SELECT place, avg(METRIC) AS value FROM point WHERE test_id = 'TEST' GROUP BY place)
SELECT METRIC FROM point AS here WHERE test_id = 'TEST'
    AND place = (SELECT place FROM mean ORDER BY value DESC LIMIT 1)
    AND NOT EXISTS (SELECT 1 FROM point WHERE test = here.test AND METRIC IS NULL);

-- metric at
SELECT METRIC FROM point WHERE test_id = 'TEST' AND position = POSITIONS GROUP BY test;

-- worst_second at
-- The second with the fewest requests; one stream by its `NUMBER`, from 0; one `DIRECTION` (`read`, `write`,
-- `flush`, `trim`) of a stream, or of all with `NULL`.
SELECT min(iops) FROM full_second WHERE test_id = 'TEST' AND position = POSITIONS GROUP BY test;

-- metric at of a stream
SELECT METRIC FROM (
    SELECT sum(ios) * 1e9 / elapsed_ns AS iops, sum(bytes) * 1e3 / elapsed_ns AS throughput_mb_s,
        sum(lat_sum_ns) / 1e3 / nullif(sum(ios), 0) AS lat_mean_us
    FROM transfer JOIN attempt ON id = step_id
    WHERE test_id = 'TEST' AND position = POSITIONS AND stream = NUMBER AND back = 1
    GROUP BY step_id);

-- metric at of a direction
SELECT METRIC FROM (
    SELECT sum(ios) * 1e9 / elapsed_ns AS iops, sum(bytes) * 1e3 / elapsed_ns AS throughput_mb_s,
        sum(lat_sum_ns) / 1e3 / nullif(sum(ios), 0) AS lat_mean_us
    FROM interval JOIN attempt ON id = step_id
    WHERE test_id = 'TEST' AND position = POSITIONS AND direction = 'DIRECTION'
        AND (NUMBER IS NULL OR stream = NUMBER) AND back = 1
    GROUP BY step_id);

-- knee_of
-- Lowest queue depth with at least 95 % of the best, and the knee of a load curve, both by the means over all
-- repetitions.
WITH mean AS (
    SELECT position, avg(METRIC) AS value FROM point WHERE test_id = 'TEST' GROUP BY position)
SELECT METRIC, position FROM point AS here WHERE test_id = 'TEST'
    AND position = (SELECT min(position) FROM mean WHERE value >= 0.95 * (SELECT max(value) FROM mean))
    AND NOT EXISTS (SELECT 1 FROM point WHERE test = here.test AND METRIC IS NULL);

-- knee_of_load
WITH mean AS (
    SELECT place, avg(iops) / avg(lat_mean_us) AS value FROM point WHERE test_id = 'TEST' GROUP BY place)
SELECT METRIC, iops / lat_mean_us FROM point AS here WHERE test_id = 'TEST'
    AND place = (SELECT place FROM mean ORDER BY value DESC LIMIT 1)
    AND NOT EXISTS (
        SELECT 1 FROM point WHERE test = here.test AND (METRIC IS NULL OR iops / lat_mean_us IS NULL));

-- mean_of_last seconds
-- Mean of the last `WINDOW` seconds, of the fewest full seconds that moved the last `WINDOW` bytes, and mean ÷
-- σ.
SELECT avg(METRIC) FROM (
    SELECT *, row_number() OVER (PARTITION BY step_id ORDER BY second DESC) AS back
    FROM full_second WHERE test_id = 'TEST')
WHERE back <= WINDOW GROUP BY test HAVING count(*) = WINDOW;

-- mean_of_last seconds of power
-- Power over the last `WINDOW` seconds, from the readings of each second.
SELECT avg(power_w) FROM (
    SELECT test, avg(value) AS power_w,
        row_number() OVER (PARTITION BY step_id ORDER BY at_ns / 1000000000 DESC) AS back
    FROM reading JOIN attempt AS here ON here.id = step_id
    WHERE test_id = 'TEST' AND here.back = 1 AND quantity = 'power_w'
        AND at_ns / 1000000000 < elapsed_ns / 1000000000
    GROUP BY step_id, at_ns / 1000000000)
WHERE back <= WINDOW GROUP BY test HAVING count(*) = WINDOW;

-- mean_of_last bytes
SELECT avg(METRIC) FROM (
    SELECT *, sum(bytes) OVER (PARTITION BY step_id ORDER BY second DESC) - bytes AS behind,
        sum(bytes) OVER (PARTITION BY step_id) AS moved
    FROM full_second WHERE test_id = 'TEST')
WHERE behind < WINDOW AND moved >= WINDOW GROUP BY test;

-- mean_over_sigma_of_last seconds
WITH last AS (
    SELECT test, METRIC AS value FROM (
        SELECT *, row_number() OVER (PARTITION BY step_id ORDER BY second DESC) AS back
        FROM full_second WHERE test_id = 'TEST')
    WHERE back <= WINDOW),
middle AS (SELECT test, avg(value) AS mean, count(*) AS n FROM last GROUP BY test)
SELECT mean / nullif(sqrt(sum((value - mean) * (value - mean)) / (n - 1)), 0)
FROM last JOIN middle USING (test) GROUP BY test HAVING n = WINDOW;

-- highest_borne
-- Highest passing load of a search in full length, by the judged latency and by service latency. A load passes
-- if each of its trials did.
SELECT max(position * (passed > 0.75)) FROM (
    SELECT test, position, avg(value) AS passed FROM attempt JOIN reading ON step_id = id
    WHERE test_id = 'TEST' AND quantity = 'borne' AND back <= counted GROUP BY test, position)
GROUP BY test HAVING max(passed) > 0;

-- highest_borne from sending
SELECT max(position * (passed > 0.75)) FROM (
    SELECT test, position, avg(value) AS passed FROM attempt JOIN reading ON step_id = id
    WHERE test_id = 'TEST' AND quantity = 'borne_from_sending' AND back <= counted
    GROUP BY test, position)
GROUP BY test;

-- service
-- Service latency of each stream, bucket by bucket (lowest value in ns, count), from the report of the step.
SELECT label, stream.value ->> 'stream' AS stream,
    100.0 * sum(iif(bucket.value ->> 0 > 1000000, bucket.value ->> 1, 0))
        / sum(bucket.value ->> 1) AS above_1ms_percent
FROM step, json_each(report, '$.open_loop') AS stream,
    json_each(stream.value, '$.service_histogram') AS bucket
WHERE state = 'finished' GROUP BY step.id, stream.key;
