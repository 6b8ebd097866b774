-- Creates the tables, topics and types of tasks of the demo of dispatch again, in the schema night.
-- If an object of yours depends on one of its tables, PostgreSQL refuses, and nothing happens.

DO $demo$
DECLARE
    v_left record;
    v_settled bigint;
BEGIN
    FOR v_left IN
        SELECT s.suspension_id
        FROM omd_report.dispatch_suspensions AS s
        WHERE s.family_code = 'NIGHT' AND s.resumed_at IS NULL
    LOOP
        CALL omd_dispatch.resume(v_left.suspension_id, v_settled);
    END LOOP;
    FOR v_left IN
        SELECT t.task_id FROM omd_dispatch.task_data_night AS t WHERE t.status = 'PENDING'
    LOOP
        CALL omd_dispatch.cancel_task(v_left.task_id);
    END LOOP;
    FOR v_left IN
        SELECT t.topic
        FROM omd_lineage.topic AS t
        WHERE t.topic IN ('night.flight', 'night.departure', 'night.delay_day')
        ORDER BY t.topic_id DESC
    LOOP
        CALL omd_lineage.remove_topic(v_left.topic);
    END LOOP;
END
$demo$;

DROP VIEW IF EXISTS night.ready, night.carriers, night.departure_block, night.delay_block;
DROP TABLE IF EXISTS night.file, night.stage, night.flight, night.departure, night.delay_day;
DROP TABLE IF EXISTS night.board, night.summary, night.began;

CREATE TABLE night.file (
    day date NOT NULL,
    path text NOT NULL,
    CONSTRAINT pk_file PRIMARY KEY (day)
);
COMMENT ON TABLE night.file IS 'The files that have arrived, one per day of flights.';

CREATE TABLE night.stage (
    day date NOT NULL,
    carrier text NOT NULL,
    flight integer NOT NULL,
    origin text NOT NULL,
    dest text NOT NULL,
    sched_dep_time integer NOT NULL,
    dep_delay integer,
    omd_insert_module_instance_id bigint NOT NULL
);
COMMENT ON TABLE night.stage IS 'The flights of the files that the last load has read.';

-- These tables have no unique key on purpose: the demo shows that each row is there once, and does
-- not enforce it.
CREATE TABLE night.flight (
    pos timestamptz NOT NULL DEFAULT clock_timestamp(),
    id bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    carrier text NOT NULL,
    flight integer NOT NULL,
    origin text NOT NULL,
    dest text NOT NULL,
    sched_dep_time integer NOT NULL,
    dep_delay integer,
    omd_insert_module_instance_id bigint NOT NULL
);
CREATE INDEX ix_flight_position ON night.flight (pos, id);
CREATE INDEX ix_flight_day ON night.flight (day);
CREATE INDEX ix_flight_instance ON night.flight (omd_insert_module_instance_id);
COMMENT ON TABLE night.flight IS 'All flights; pos: when the row was written.';

CREATE TABLE night.departure (
    pos timestamptz NOT NULL,
    id bigint NOT NULL,
    day date NOT NULL,
    carrier text NOT NULL,
    flight integer NOT NULL,
    origin text NOT NULL,
    sched_dep_time integer NOT NULL,
    state text NOT NULL,
    dep_delay integer,
    omd_insert_module_instance_id bigint NOT NULL
);
CREATE INDEX ix_departure_position ON night.departure (pos, id);
CREATE INDEX ix_departure_instance ON night.departure (omd_insert_module_instance_id);
COMMENT ON TABLE night.departure IS 'Each flight, and whether it was on time, late or cancelled.';

CREATE TABLE night.delay_day (
    day date NOT NULL,
    state text NOT NULL,
    flights bigint NOT NULL,
    delay_minutes bigint NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL
);
CREATE INDEX ix_delay_day_instance ON night.delay_day (omd_insert_module_instance_id);
COMMENT ON TABLE night.delay_day IS 'Sums per day and state, a part from each block: they add up.';

CREATE VIEW night.departure_block AS
SELECT
    f.pos,
    f.id,
    f.day,
    f.carrier,
    f.flight,
    f.origin,
    f.sched_dep_time,
    CASE
        WHEN f.dep_delay IS NULL THEN 'cancelled' WHEN f.dep_delay > 15 THEN 'late' ELSE 'on time'
    END AS state,
    f.dep_delay
FROM night.flight AS f
WHERE omd_lineage.in_block(f.pos, f.id);

CREATE VIEW night.delay_block AS
SELECT
    d.day,
    d.state,
    count(*) AS flights,
    coalesce(sum(d.dep_delay), 0) AS delay_minutes
FROM night.departure AS d
WHERE omd_lineage.in_block(d.pos, d.id)
GROUP BY d.day, d.state;

-- These are written by SQL procedures. A procedure may be called a second time after its worker has
-- died, so each row tells the task that has written it: the demo counts them.
CREATE TABLE night.board (
    task_id bigint NOT NULL,
    flights bigint NOT NULL,
    late bigint NOT NULL
);
COMMENT ON TABLE night.board IS 'What the board in the hall has shown, hour by hour.';

CREATE TABLE night.summary (
    task_id bigint NOT NULL,
    worker text NOT NULL,
    carrier text NOT NULL,
    flights bigint NOT NULL,
    average_delay numeric
);
COMMENT ON TABLE night.summary IS 'A summary for each carrier; worker: the process that made it.';

CREATE OR REPLACE FUNCTION night.task_id()
RETURNS bigint
LANGUAGE sql
STABLE
SET search_path = pg_catalog, pg_temp
AS $task_id$
    SELECT (current_setting('omd.execution_context')::jsonb ->> 'task_id')::bigint
$task_id$;
COMMENT ON FUNCTION night.task_id IS 'The task for which this session works: its worker says so.';

CREATE OR REPLACE PROCEDURE night.refresh_board(p_payload jsonb)
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $refresh_board$
    INSERT INTO night.board (task_id, flights, late)
    SELECT night.task_id(), count(*), count(*) FILTER (WHERE d.state = 'late')
    FROM night.departure AS d
$refresh_board$;
COMMENT ON PROCEDURE night.refresh_board IS 'Writes what the board shows now.';

CREATE OR REPLACE PROCEDURE night.summarize(p_payload jsonb)
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $summarize$
    INSERT INTO night.summary (task_id, worker, carrier, flights, average_delay)
    SELECT
        night.task_id(),
        (
            SELECT split_part(r.claimed_by, ':', 2)
            FROM omd_report.dispatch_running AS r
            WHERE r.task_id = night.task_id()
        ),
        p_payload ->> 'carrier',
        count(*),
        round(avg(d.dep_delay), 1)
    FROM night.departure AS d
    WHERE d.carrier = p_payload ->> 'carrier';
    SELECT pg_sleep(0.75);
$summarize$;
COMMENT ON PROCEDURE night.summarize IS
'Writes the summary of the carrier in p_payload; it sleeps, as if that were much work.';

-- The workers of the demo run as omd_runner, with these rights and no others.
GRANT USAGE ON SCHEMA night TO omd_runner;
GRANT SELECT ON ALL TABLES IN SCHEMA night TO omd_runner;
GRANT INSERT, DELETE, TRUNCATE ON night.stage TO omd_runner;
GRANT INSERT, DELETE ON night.flight, night.departure, night.delay_day TO omd_runner;
GRANT INSERT ON night.board, night.summary TO omd_runner;

-- What runs is a Batch of two Modules, and two topics. The load itself says up to where its table
-- is complete (HAND), since it knows.
SET ROLE omd_admin;
CALL omd.register_batch('b_night', 'Adhoc', 'The flights that have arrived');
CALL omd.register_module('m_night_stage', 'STG', 'night.stage', 'STG', 'POSTGRES');
CALL omd.register_module('m_night_flight', 'HSTG', 'night.flight', 'HSTG', 'POSTGRES');
CALL omd.add_module_to_batch('b_night', 'm_night_stage', 10);
CALL omd.add_module_to_batch('b_night', 'm_night_flight', 20);
CALL omd_lineage.register_topic('night.flight', p_source_offset => 'HAND');
CALL omd_lineage.register_topic(
    'night.departure',
    p_depends_on => ARRAY['night.flight'],
    p_transforms => ARRAY['night.departure_block'],
    p_repeat => interval '0'
);
CALL omd_lineage.register_topic(
    'night.delay_day',
    p_depends_on => ARRAY['night.departure'],
    p_transforms => ARRAY['night.delay_block'],
    p_repeat => interval '0'
);

-- The types of tasks say what a worker does. A failed load is tried again after a second.
CALL omd_dispatch.register_task_type(
    'NIGHT', 'FLIGHTS', 'BATCH', 'omd.demo.dispatch.jobs:load_flights', 'NIGHT',
    p_backoff => interval '1 second', p_later_after => interval '1 second'
);
CALL omd_dispatch.register_task_type(
    'NIGHT', 'TOPIC', 'PYTHON', 'omd.lineage.task:run', 'NIGHT',
    p_backoff => interval '1 second', p_later_after => interval '1 second'
);
CALL omd_dispatch.register_task_type('NIGHT', 'REFRESH', 'SQL', 'night.refresh_board', 'NIGHT');
CALL omd_dispatch.register_task_type('NIGHT', 'SUMMARY', 'SQL', 'night.summarize', 'NIGHT');
CALL omd_dispatch.set_custom('NIGHT', 'REFRESH', 'CODE', 'D');
CALL omd_dispatch.set_custom('NIGHT', 'SUMMARY', 'CODE', 'D');
RESET ROLE;

-- The sources of schedules: each row is a task.
CREATE VIEW night.ready AS
SELECT r.code FROM omd_report.ready_topic_tasks AS r
WHERE r.code LIKE 'night.%';
COMMENT ON VIEW night.ready IS 'The topics of the demo that are ready.';

CREATE VIEW night.carriers AS
SELECT jsonb_build_object('carrier', d.carrier) AS payload FROM night.departure AS d
GROUP BY d.carrier;
COMMENT ON VIEW night.carriers IS 'The carriers that have flown: a summary of each is due.';

GRANT SELECT ON night.ready, night.carriers TO omd_runner;

CREATE TABLE night.began AS SELECT clock_timestamp() AS began_at;
COMMENT ON TABLE night.began IS 'When this night began; its tasks are younger.';
