-- What becomes of the facts: a table in PostgreSQL, one in the lake, and the decisions of a stage.
-- This is all that a team writes besides the model and the rules. There is no schedule, procedure
-- or program: what is declared here starts by itself when the facts have changed.

CREATE SCHEMA mart_nyc_night;

-- The departures as they are now. One that was taken back stays, with acm_record_ind R.
CREATE TABLE mart_nyc_night.departure (
    carrier text,
    flight integer,
    departs timestamptz,
    day date,
    origin text,
    dest text,
    delay integer,
    distance integer,
    acm_record_ind text,
    omd_insert_module_instance_id bigint NOT NULL,
    CONSTRAINT uq_departure UNIQUE (carrier, flight, departs)
);

-- A transform of a topic is a view. It shows the block of the step, which has a row per key.
CREATE VIEW mart_nyc_night.v_departure AS
SELECT
    f.carrier,
    f.flight,
    f.departs,
    f.day,
    f.origin,
    f.dest,
    f.delay,
    f.distance,
    f.acm_record_ind
FROM changes_nyc_night.flights AS f;

-- What the rules decide about each version of a flight.
CREATE TABLE mart_nyc_night.care (
    carrier text,
    flight integer,
    departs timestamptz,
    care text,
    dollars integer,
    acm_change_id bigint,
    omd_insert_module_instance_id bigint NOT NULL
);
CREATE INDEX ix_care_instance ON mart_nyc_night.care (omd_insert_module_instance_id);

-- The workers run as omd_runner.
GRANT USAGE ON SCHEMA mart_nyc_night TO omd_runner;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mart_nyc_night TO omd_runner;

SET ROLE omd_admin;
CALL omd_lineage.register_topic(
    'mart_nyc_night.departure',
    p_depends_on => ARRAY['gdal_nyc_night.flights'],
    p_transforms => ARRAY['mart_nyc_night.v_departure'],
    p_merge_key => ARRAY['carrier', 'flight', 'departs']
);

-- Spark appends each version of a delay to an Iceberg table.
CALL omd_lake.register_namespace('lake_nyc_night', 'LAKE_FOLDER');
CALL omd.register_module(
    'lake_nyc_night.delay', 'PRES', 'lake_nyc_night.delay', 'FACT', 'SPARK',
    p_table_format_code => 'ICEBERG'
);
CALL omd_lineage.register_topic(
    'lake_nyc_night.delay',
    p_depends_on => ARRAY['gdal_nyc_night.flights'],
    p_engine => 'SPARK',
    p_transforms => ARRAY[
        'SELECT carrier, flight, departs, origin, delay, acm_record_ind, acm_change_id FROM block'
    ],
    p_module_code => 'lake_nyc_night.delay'
);
RESET ROLE;
