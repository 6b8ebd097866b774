-- Creates the tables of the demo of decisions again, in the schema care. It changes only a schema
-- that the demo itself has created. If an object of yours depends on one of its tables, PostgreSQL
-- refuses, and nothing happens.

DO $demo$
BEGIN
    IF to_regnamespace('care') IS NULL THEN
        CREATE SCHEMA care;
        COMMENT ON SCHEMA care IS 'Created by omd demo decision';
    ELSIF obj_description(to_regnamespace('care'), 'pg_namespace')
        IS DISTINCT FROM 'Created by omd demo decision'
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'duplicate_schema',
            MESSAGE = 'The schema care exists and is not the demo''s.',
            HINT = 'Run the demo in another database: omd demo decision --dsn …';
    END IF;
END
$demo$;

-- Ends what an earlier demo has left, if it was interrupted.
DO $demo$
DECLARE
    v_left record;
BEGIN
    FOR v_left IN
        SELECT mi.module_instance_id
        FROM omd.module_instance AS mi
        INNER JOIN omd.module AS m USING (module_id)
        WHERE m.module_code IN ('flight_care', 'january_care') AND mi.execution_status_code = 'E'
    LOOP
        CALL omd.module_failure(v_left.module_instance_id, 'the demo was interrupted');
    END LOOP;
END
$demo$;

DROP VIEW IF EXISTS care.january_flights, care.january_weather;
DROP TABLE IF EXISTS care.flights, care.weather, care.decision, care.january;

-- These are the records that rules decide about; id is the order in which they have arrived.
CREATE TABLE care.flights (
    id integer CONSTRAINT pk_flights PRIMARY KEY,
    month integer NOT NULL,
    origin text NOT NULL,
    hour timestamptz NOT NULL,
    carrier text NOT NULL,
    flight integer NOT NULL,
    dest text NOT NULL,
    distance integer NOT NULL,
    delay integer
);
COMMENT ON TABLE care.flights IS 'Departures from New York; delay is NULL: cancelled.';

CREATE TABLE care.weather (
    id integer CONSTRAINT pk_weather PRIMARY KEY,
    month integer NOT NULL,
    origin text NOT NULL,
    hour timestamptz NOT NULL,
    wind_speed double precision,
    visib double precision NOT NULL
);
COMMENT ON TABLE care.weather IS 'The hourly weather at the three airports: miles per hour, miles.';

CREATE VIEW care.january_flights AS
SELECT
    f.id,
    f.month,
    f.origin,
    f.hour,
    f.carrier,
    f.flight,
    f.dest,
    f.distance,
    f.delay
FROM care.flights AS f
WHERE f.month = 1;

CREATE VIEW care.january_weather AS
SELECT
    w.id,
    w.month,
    w.origin,
    w.hour,
    w.wind_speed,
    w.visib
FROM care.weather AS w
WHERE w.month = 1;

-- The decisions. What begins with omd_ is filled by the run; the rules themselves say care and
-- dollars, and all else comes from the flight.
CREATE TABLE care.decision (
    id integer NOT NULL,
    carrier text NOT NULL,
    flight integer NOT NULL,
    delay integer,
    care text NOT NULL,
    dollars integer NOT NULL,
    omd_wave text NOT NULL,
    omd_key jsonb NOT NULL,
    omd_cycle_no bigint NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL
);
CREATE INDEX ix_decision_instance ON care.decision (omd_insert_module_instance_id);
COMMENT ON TABLE care.decision IS 'What a decision table says, run on Spark: the whole year.';

CREATE TABLE care.january (LIKE care.decision);
CREATE INDEX ix_january_instance ON care.january (omd_insert_module_instance_id);
COMMENT ON TABLE care.january IS 'What a function says, run in the database: January.';

-- The rules of care.json as a function: the flights and the weather of an airport and an hour.
CREATE OR REPLACE FUNCTION care.decide(p jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT jsonb_build_object('care', coalesce(jsonb_agg(jsonb_build_object(
        'care', CASE
            WHEN f.delay IS NULL THEN 'another flight, a hotel'
            WHEN f.delay >= 180 THEN 'a hotel'
            WHEN f.delay >= 60 THEN 'a meal'
            WHEN f.delay >= 15 THEN 'a drink'
            ELSE 'nothing'
        END,
        'dollars', CASE
            WHEN f.delay < 180 OR sky.storm THEN 0
            WHEN f.delay IS NOT NULL AND f.distance >= 1500 THEN 400
            ELSE 250
        END
    ) ORDER BY r.n), '[]'))
    FROM (
        SELECT coalesce(bool_or(
            coalesce((w ->> 'wind_speed')::float8 >= 30, FALSE) OR (w ->> 'visib')::float8 < 0.5
        ), FALSE) AS storm
        FROM jsonb_array_elements(p -> 'weather') AS w
    ) AS sky
    CROSS JOIN jsonb_array_elements(p -> 'flights') WITH ORDINALITY AS r (flight, n)
    CROSS JOIN LATERAL (
        SELECT (r.flight ->> 'delay')::int AS delay, (r.flight ->> 'distance')::int AS distance
    ) AS f
$$;

-- The runs of the demo are those of omd_runner, with these rights and no others.
GRANT USAGE ON SCHEMA care TO omd_admin, omd_runner;
GRANT SELECT ON care.flights, care.january_flights TO omd_runner;
GRANT SELECT ON care.weather, care.january_weather TO omd_runner;
GRANT SELECT, INSERT, DELETE ON care.decision, care.january TO omd_runner;
