-- Creates the tables and topics of the demo of lineage again, in feed, etl, fact and dash. It
-- changes only schemas that the demo itself has created, and in them only its own tables. If an
-- object of yours depends on one of these, PostgreSQL refuses, and nothing happens.

DO $demo$
DECLARE
    v_schema text;
BEGIN
    FOREACH v_schema IN ARRAY ARRAY['feed', 'etl', 'fact', 'dash'] LOOP
        IF to_regnamespace(v_schema) IS NULL THEN
            EXECUTE format('CREATE SCHEMA %I', v_schema);
            EXECUTE format('COMMENT ON SCHEMA %I IS %L', v_schema, 'Created by omd demo lineage');
        ELSIF obj_description(to_regnamespace(v_schema), 'pg_namespace')
            IS DISTINCT FROM 'Created by omd demo lineage'
        THEN
            RAISE EXCEPTION USING
                ERRCODE = 'duplicate_schema',
                MESSAGE = format('The schema %I exists and is not the demo''s.', v_schema),
                HINT = 'Run the demo in another database: omd demo lineage --dsn …';
        END IF;
    END LOOP;
END
$demo$;

-- Removes what an earlier demo has left, even one that was interrupted.
DO $demo$
DECLARE
    v_left record;
BEGIN
    FOR v_left IN
        SELECT mi.module_instance_id
        FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m USING (module_id)
        WHERE m.module_code IN ('fact.departure', 'dash.sky_day')
            AND mi.execution_status_code = 'E'
    LOOP
        CALL omd.module_failure(v_left.module_instance_id, 'the demo was interrupted');
    END LOOP;
    FOR v_left IN
        SELECT t.topic
        FROM omd_lineage.topic AS t
        WHERE t.topic IN ('feed.flights', 'feed.weather', 'fact.departure', 'dash.sky_day')
        ORDER BY t.topic_id DESC
    LOOP
        CALL omd_lineage.remove_topic(v_left.topic);
    END LOOP;
END
$demo$;

DROP VIEW IF EXISTS dash.sky, etl.departure;
DROP TABLE IF EXISTS feed.flights, feed.weather, fact.departure, fact.progress, dash.sky_day;

-- These are the sources. The position of a row is the hour that it describes, not the time of its
-- arrival: two tables can wait for each other only by a clock that they share.
CREATE TABLE feed.flights (
    pos timestamptz NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    day date NOT NULL,
    carrier text NOT NULL,
    flight integer NOT NULL,
    origin text NOT NULL,
    dest text NOT NULL,
    sched_dep_time integer NOT NULL,
    dep_delay integer
);
CREATE INDEX ix_flights_position ON feed.flights (pos, id);
COMMENT ON TABLE feed.flights IS 'Departures from New York; pos: the hour they were scheduled for.';

CREATE TABLE feed.weather (
    pos timestamptz NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    origin text NOT NULL,
    visib double precision NOT NULL,
    precip double precision NOT NULL
);
CREATE INDEX ix_weather_position ON feed.weather (pos, id);
CREATE INDEX ix_weather_origin ON feed.weather (origin, pos);
COMMENT ON TABLE feed.weather IS 'The hourly weather at the three airports; pos: the hour.';

-- The fact has no unique key on purpose: the demo shows that each row is there once, and does not
-- enforce it.
CREATE TABLE fact.departure (
    pos timestamptz NOT NULL,
    id bigint NOT NULL,
    day date NOT NULL,
    carrier text NOT NULL,
    flight integer NOT NULL,
    origin text NOT NULL,
    dest text NOT NULL,
    sched_dep_time integer NOT NULL,
    dep_delay integer,
    sky text,
    omd_insert_module_instance_id bigint NOT NULL
);
CREATE INDEX ix_departure_position ON fact.departure (pos, id);
CREATE INDEX ix_departure_instance ON fact.departure (omd_insert_module_instance_id);
COMMENT ON TABLE fact.departure IS 'Departures and the sky above them; sky is NULL: not known.';

CREATE TABLE fact.progress (complete_to timestamptz);
INSERT INTO fact.progress VALUES (NULL);
COMMENT ON TABLE fact.progress IS 'One row, for readers: up to where fact.departure is complete.';

CREATE TABLE dash.sky_day (
    day date NOT NULL,
    sky text NOT NULL,
    flights bigint NOT NULL,
    cancelled bigint NOT NULL,
    delay_minutes bigint NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL,
    CONSTRAINT uq_sky_day UNIQUE (day, sky, omd_insert_module_instance_id)
);
COMMENT ON TABLE dash.sky_day IS 'Sums per day and sky, a part from each block: they add up.';

CREATE VIEW dash.sky AS
SELECT
    d.sky,
    sum(d.flights) AS flights,
    round(100 * sum(d.cancelled) / sum(d.flights), 1) AS cancelled_percent,
    round(sum(d.delay_minutes) / nullif(sum(d.flights - d.cancelled), 0), 1) AS average_delay
FROM dash.sky_day AS d
GROUP BY d.sky;
COMMENT ON VIEW dash.sky IS 'How the sky delays flights.';

-- A transform is a view. By the condition in_block it reads the block of the step and nothing else.
CREATE VIEW etl.departure AS
SELECT
    f.pos,
    f.id,
    f.day,
    f.carrier,
    f.flight,
    f.origin,
    f.dest,
    f.sched_dep_time,
    f.dep_delay,
    CASE
        WHEN w.precip > 0 THEN 'rain'
        WHEN w.visib < 5 THEN 'fog'
        WHEN w.visib IS NOT NULL THEN 'clear'
    END AS sky
FROM feed.flights AS f
LEFT JOIN feed.weather AS w ON f.origin = w.origin AND f.pos = w.pos
WHERE omd_lineage.in_block(f.pos, f.id);

-- The schedulers of the demo run as omd_runner, with these rights and no others.
GRANT USAGE ON SCHEMA feed, etl, fact, dash TO omd_runner;
GRANT SELECT ON feed.flights, feed.weather, etl.departure TO omd_runner;
GRANT SELECT, INSERT, DELETE ON fact.departure, dash.sky_day TO omd_runner;
GRANT UPDATE ON fact.progress TO omd_runner;

-- The topics are two sources, a fact that waits for both, and a table that Spark makes of the fact.
SET ROLE omd_admin;
CALL omd_lineage.register_topic('feed.flights');
CALL omd_lineage.register_topic('feed.weather');
CALL omd_lineage.register_topic(
    'fact.departure',
    p_depends_on => ARRAY['feed.flights', 'feed.weather'],
    p_transforms => ARRAY['etl.departure'],
    p_after_sql => ARRAY['UPDATE fact.progress SET complete_to = (omd_lineage.block_end()).pos'],
    p_repeat => interval '0',
    p_start_pos => '2013-01-01 00:00 America/New_York'
);
CALL omd_lineage.register_topic(
    'dash.sky_day',
    p_depends_on => ARRAY['fact.departure'],
    p_transforms => ARRAY[
        $spark$
        SELECT /*+ REPARTITION(2, day) */
            day,
            coalesce(sky, 'not known') AS sky,
            count(*) AS flights,
            count_if(dep_delay IS NULL) AS cancelled,
            coalesce(sum(dep_delay), 0) AS delay_minutes
        FROM block
        GROUP BY day, coalesce(sky, 'not known')
        $spark$
    ],
    p_engine => 'SPARK',
    p_repeat => interval '0',
    p_start_pos => '2013-01-01 00:00 America/New_York'
);
RESET ROLE;
