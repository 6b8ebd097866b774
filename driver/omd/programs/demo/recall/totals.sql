-- The flights and delays of each day. A step makes the days again of which it has read a flight.

CREATE TABLE mart_nyc_night.total (
    day date UNIQUE,
    flights bigint,
    delay bigint,
    omd_insert_module_instance_id bigint NOT NULL
);

-- The first view has the days of the block, the second the rows of these days.
CREATE VIEW mart_nyc_night.v_day AS
SELECT f.day FROM changes_nyc_night.flights AS f;
CREATE VIEW mart_nyc_night.v_total AS
SELECT
    f.day,
    count(*) AS flights,
    coalesce(sum(f.delay), 0) AS delay
FROM asof_nyc_night.flights AS f
GROUP BY f.day;

GRANT SELECT, INSERT, UPDATE, DELETE ON mart_nyc_night.total TO omd_runner;
GRANT SELECT ON mart_nyc_night.v_day, mart_nyc_night.v_total TO omd_runner;

-- A recall deletes rows with the rights of who recalls.
GRANT USAGE ON SCHEMA mart_nyc_night TO omd_admin;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mart_nyc_night TO omd_admin;

SET ROLE omd_admin;
CALL omd_lineage.register_topic(
    'mart_nyc_night.total',
    p_depends_on => ARRAY['gdal_nyc_night.flights'],
    p_transforms => ARRAY['mart_nyc_night.v_day', 'mart_nyc_night.v_total'],
    p_recompute_key => ARRAY['day']
);
RESET ROLE;
