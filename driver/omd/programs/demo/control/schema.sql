-- Creates the demo's target tables again, in stg, hstg, int and pres. It changes only schemas that
-- the demo itself has created, and in them only its own tables. If an object of yours depends on
-- one of these, PostgreSQL refuses, and nothing happens.

DO $demo$
DECLARE
    v_schema text;
BEGIN
    FOREACH v_schema IN ARRAY ARRAY['stg', 'hstg', 'int', 'pres'] LOOP
        IF to_regnamespace(v_schema) IS NULL THEN
            EXECUTE format('CREATE SCHEMA %I', v_schema);
            EXECUTE format('COMMENT ON SCHEMA %I IS %L', v_schema, 'Created by omd demo');
        ELSIF obj_description(to_regnamespace(v_schema), 'pg_namespace')
            IS DISTINCT FROM 'Created by omd demo'
        THEN
            RAISE EXCEPTION USING
                ERRCODE = 'duplicate_schema',
                MESSAGE = format('The schema %I exists and is not the demo''s.', v_schema),
                HINT = 'Run the demo in another database: omd demo --dsn …';
        END IF;
    END LOOP;
END
$demo$;

DROP TABLE IF EXISTS stg.flights, stg.airlines, stg.airports, stg.planes, stg.weather;
DROP TABLE IF EXISTS hstg.flights, hstg.weather;
DROP TABLE IF EXISTS int.hub_carrier, int.hub_airport, int.hub_aircraft;
DROP TABLE IF EXISTS int.link_flight, int.sat_aircraft;
DROP TABLE IF EXISTS pres.carrier_month;

-- Staging holds what the source delivers. NULL stands for NA in the source: a flight that never
-- left has no departure time.

CREATE TABLE stg.flights (
    year integer NOT NULL,
    month integer NOT NULL,
    day integer NOT NULL,
    dep_time integer,
    sched_dep_time integer NOT NULL,
    dep_delay integer,
    arr_time integer,
    sched_arr_time integer NOT NULL,
    arr_delay integer,
    carrier text NOT NULL,
    flight integer NOT NULL,
    tailnum text,
    origin text NOT NULL,
    dest text NOT NULL,
    air_time integer,
    distance integer NOT NULL,
    hour integer NOT NULL,
    minute integer NOT NULL,
    time_hour timestamptz NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL
);
COMMENT ON TABLE stg.flights IS 'The month''s flights from New York, as delivered.';

CREATE TABLE stg.airlines (
    carrier text NOT NULL,
    name text NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL
);
COMMENT ON TABLE stg.airlines IS 'Names of the carriers.';

CREATE TABLE stg.airports (
    faa text NOT NULL,
    name text NOT NULL,
    lat double precision NOT NULL,
    lon double precision NOT NULL,
    alt integer NOT NULL,
    tz integer NOT NULL,
    dst text NOT NULL,
    tzone text,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL
);
COMMENT ON TABLE stg.airports IS 'Airports and where they are.';

CREATE TABLE stg.planes (
    tailnum text NOT NULL,
    year integer,
    type text NOT NULL,
    manufacturer text NOT NULL,
    model text NOT NULL,
    engines integer NOT NULL,
    seats integer NOT NULL,
    speed integer,
    engine text NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL
);
COMMENT ON TABLE stg.planes IS 'Aircraft, as far as the register knows them.';

CREATE TABLE stg.weather (
    origin text NOT NULL,
    year integer NOT NULL,
    month integer NOT NULL,
    day integer NOT NULL,
    hour integer NOT NULL,
    temp double precision,
    dewp double precision,
    humid double precision,
    wind_dir integer,
    wind_speed double precision,
    wind_gust double precision,
    precip double precision NOT NULL,
    pressure double precision,
    visib double precision NOT NULL,
    time_hour timestamptz NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL
);
COMMENT ON TABLE stg.weather IS 'The month''s hourly weather at the three airports of departure.';

-- History staging holds every delivery, by inserts only. It has no key on purpose: the demo shows
-- that each row is there once, and does not enforce it.

CREATE TABLE hstg.flights (LIKE stg.flights);
CREATE INDEX ix_flights_instance ON hstg.flights (omd_insert_module_instance_id);
COMMENT ON TABLE hstg.flights IS 'All flights delivered so far.';

CREATE TABLE hstg.weather (LIKE stg.weather);
CREATE INDEX ix_weather_instance ON hstg.weather (omd_insert_module_instance_id);
COMMENT ON TABLE hstg.weather IS 'All weather delivered so far.';

-- Integration has hubs, a link, and a satellite with history.

CREATE TABLE int.hub_carrier (
    carrier_code text NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL,
    CONSTRAINT pk_hub_carrier PRIMARY KEY (carrier_code)
);
COMMENT ON TABLE int.hub_carrier IS 'Carriers.';

CREATE TABLE int.hub_airport (
    airport_code text NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL,
    CONSTRAINT pk_hub_airport PRIMARY KEY (airport_code)
);
COMMENT ON TABLE int.hub_airport IS 'Airports that a flight left from or was bound for.';

CREATE TABLE int.hub_aircraft (
    tailnum text NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL,
    CONSTRAINT pk_hub_aircraft PRIMARY KEY (tailnum)
);
COMMENT ON TABLE int.hub_aircraft IS 'Aircraft by tail number.';

CREATE TABLE int.link_flight (
    flight_date date NOT NULL,
    carrier_code text NOT NULL,
    flight_number integer NOT NULL,
    origin_code text NOT NULL,
    sched_dep_time integer NOT NULL,
    destination_code text NOT NULL,
    tailnum text,
    is_cancelled boolean NOT NULL,
    dep_delay integer,
    arr_delay integer,
    distance integer NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL,
    CONSTRAINT pk_link_flight PRIMARY KEY (
        flight_date, carrier_code, flight_number, origin_code, sched_dep_time
    )
);
COMMENT ON TABLE int.link_flight IS
'Flights: which carrier flew which aircraft from where to where, and how late.';

CREATE TABLE int.sat_aircraft (
    tailnum text NOT NULL,
    omd_effective_date date NOT NULL,
    omd_expiry_date date NOT NULL,
    omd_current_record_indicator text NOT NULL,
    carrier_code text NOT NULL,
    base_airport_code text NOT NULL,
    manufacturer text,
    model text,
    seats integer,
    omd_insert_module_instance_id bigint NOT NULL,
    omd_update_module_instance_id bigint,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL,
    CONSTRAINT pk_sat_aircraft PRIMARY KEY (tailnum, omd_effective_date),
    CONSTRAINT ck_sat_aircraft_current CHECK (omd_current_record_indicator IN ('Y', 'N'))
);
COMMENT ON TABLE int.sat_aircraft IS
'Who flies an aircraft, and from where most often, month by month; its maker where known.';

-- Ends the validity of the records that this Module Instance's records follow; returns how many.
CREATE OR REPLACE PROCEDURE int.end_date_sat_aircraft(
    p_module_instance_id bigint,
    INOUT p_rows_updated bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $end_date_sat_aircraft$
BEGIN
    UPDATE int.sat_aircraft AS s
    SET omd_expiry_date = n.omd_effective_date,
        omd_current_record_indicator = 'N',
        omd_update_module_instance_id = p_module_instance_id
    FROM int.sat_aircraft AS n
    WHERE n.omd_insert_module_instance_id = p_module_instance_id
        AND s.tailnum = n.tailnum
        AND s.omd_current_record_indicator = 'Y'
        AND s.omd_effective_date < n.omd_effective_date;
    GET DIAGNOSTICS p_rows_updated = ROW_COUNT;
END
$end_date_sat_aircraft$;
COMMENT ON PROCEDURE int.end_date_sat_aircraft IS
'Ends the validity of the records that a Module Instance''s records follow.';

-- Presentation.

CREATE TABLE pres.carrier_month (
    year integer NOT NULL,
    month integer NOT NULL,
    carrier_code text NOT NULL,
    carrier_name text,
    flights integer NOT NULL,
    cancelled integer NOT NULL,
    dep_delay_minutes bigint NOT NULL,
    arr_delay_minutes bigint NOT NULL,
    average_dep_delay numeric(7, 2),
    average_arr_delay numeric(7, 2),
    omd_insert_module_instance_id bigint NOT NULL,
    omd_insert_datetime timestamptz NOT NULL,
    omd_record_source text NOT NULL,
    CONSTRAINT pk_carrier_month PRIMARY KEY (year, month, carrier_code)
);
COMMENT ON TABLE pres.carrier_month IS 'Delays by carrier and month, in minutes.';
