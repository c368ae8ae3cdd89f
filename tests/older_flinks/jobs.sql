SET 'execution.checkpointing.interval' = '5 s';
SET 'parallelism.default' = '2';

CREATE TABLE fine (runner INT, metres INT, rt AS CAST(CURRENT_TIMESTAMP AS TIMESTAMP_LTZ(3)),
  WATERMARK FOR rt AS rt - INTERVAL '2' SECOND)
  WITH ('connector' = 'datagen', 'rows-per-second' = '40', 'fields.runner.min' = '1', 'fields.runner.max' = '7');
CREATE TABLE slow (runner INT, metres INT, rt AS CAST(CURRENT_TIMESTAMP AS TIMESTAMP_LTZ(3)),
  WATERMARK FOR rt AS rt - INTERVAL '10' MINUTE)
  WITH ('connector' = 'datagen', 'rows-per-second' = '40', 'fields.runner.min' = '1', 'fields.runner.max' = '7');
CREATE TABLE few (runner INT, metres INT, rt AS CAST(CURRENT_TIMESTAMP AS TIMESTAMP_LTZ(3)),
  WATERMARK FOR rt AS rt - INTERVAL '2' SECOND)
  WITH ('connector' = 'datagen', 'rows-per-second' = '1', 'number-of-rows' = '10',
    'fields.runner.min' = '1', 'fields.runner.max' = '7');
CREATE TABLE late (runner INT, metres INT, rt AS CAST(CURRENT_TIMESTAMP AS TIMESTAMP_LTZ(3))
    - CASE WHEN metres < 60 THEN INTERVAL '20' SECOND ELSE INTERVAL '0' SECOND END, WATERMARK FOR rt AS rt)
  WITH ('connector' = 'datagen', 'rows-per-second' = '40', 'fields.runner.min' = '1', 'fields.runner.max' = '7',
    'fields.metres.min' = '0', 'fields.metres.max' = '299');
CREATE TABLE clock (runner INT, metres INT, p AS PROCTIME())
  WITH ('connector' = 'datagen', 'rows-per-second' = '40', 'fields.runner.min' = '1', 'fields.runner.max' = '7');
CREATE TABLE totals (runner INT, ended TIMESTAMP_LTZ(3), metres BIGINT) WITH ('connector' = 'blackhole');
CREATE TABLE counts (runner INT, runs BIGINT) WITH ('connector' = 'blackhole');

SET 'pipeline.name' = 'sql-healthy';
INSERT INTO totals SELECT runner, window_end, SUM(metres)
  FROM TABLE(TUMBLE(TABLE fine, DESCRIPTOR(rt), INTERVAL '5' SECOND)) GROUP BY runner, window_start, window_end;
SET 'pipeline.name' = 'sql-clock';
INSERT INTO totals SELECT runner, window_end, SUM(metres)
  FROM TABLE(TUMBLE(TABLE clock, DESCRIPTOR(p), INTERVAL '5' SECOND)) GROUP BY runner, window_start, window_end;
SET 'pipeline.name' = 'sql-no-windows';
INSERT INTO counts SELECT runner, COUNT(*) FROM clock GROUP BY runner;
SET 'pipeline.name' = 'sql-one-ends';
INSERT INTO totals SELECT runner, window_end, SUM(metres)
  FROM TABLE(TUMBLE(TABLE few, DESCRIPTOR(rt), INTERVAL '5' SECOND)) GROUP BY runner, window_start, window_end
  UNION ALL SELECT runner, window_end, SUM(metres)
  FROM TABLE(TUMBLE(TABLE fine, DESCRIPTOR(rt), INTERVAL '5' SECOND)) GROUP BY runner, window_start, window_end;
SET 'pipeline.name' = 'sql-late';
INSERT INTO totals SELECT runner, window_end, SUM(metres)
  FROM TABLE(TUMBLE(TABLE late, DESCRIPTOR(rt), INTERVAL '5' SECOND)) GROUP BY runner, window_start, window_end;
SET 'pipeline.name' = 'sql-old-group';
INSERT INTO totals SELECT runner, TUMBLE_ROWTIME(rt, INTERVAL '5' SECOND), SUM(metres)
  FROM late GROUP BY runner, TUMBLE(rt, INTERVAL '5' SECOND);
SET 'pipeline.name' = 'sql-large';
INSERT INTO totals SELECT runner, window_end, SUM(metres)
  FROM TABLE(HOP(TABLE slow, DESCRIPTOR(rt), INTERVAL '5' SECOND, INTERVAL '10' SECOND))
  GROUP BY runner, window_start, window_end;
