-- Creates the tables of the demo of doors again, in the schema doors, and registers its Batch. It
-- changes only a schema that the demo itself has created. If an object of yours depends on one of
-- its tables, PostgreSQL refuses, and nothing happens.

DO $demo$
BEGIN
    IF to_regnamespace('doors') IS NULL THEN
        CREATE SCHEMA doors;
        COMMENT ON SCHEMA doors IS 'Created by omd demo doors';
    ELSIF obj_description(to_regnamespace('doors'), 'pg_namespace')
        IS DISTINCT FROM 'Created by omd demo doors'
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'duplicate_schema',
            MESSAGE = 'The schema doors exists and is not the demo''s.',
            HINT = 'Run the demo in another database: omd demo doors --dsn …';
    END IF;
END
$demo$;

-- Removes what an earlier demo has left, even one that was interrupted.
DO $demo$
DECLARE
    v_left record;
BEGIN
    FOR v_left IN
        SELECT s.sink_code FROM omd_report.event_sinks AS s WHERE s.sink_code = 'demo_doors'
    LOOP
        CALL omd_event.remove_sink(v_left.sink_code);
    END LOOP;
    FOR v_left IN
        SELECT l.module_instance_id
        FROM omd_report.module_execution_log AS l
        WHERE l.module_code IN ('m_doors_sale', 'm_doors_total') AND l.execution_status_code = 'E'
    LOOP
        CALL omd.module_failure(v_left.module_instance_id, 'the demo was interrupted');
    END LOOP;
    FOR v_left IN
        SELECT l.batch_instance_id
        FROM omd_report.batch_execution_log AS l
        WHERE l.batch_code = 'b_doors' AND l.execution_status_code = 'E'
    LOOP
        CALL omd.batch_failure(v_left.batch_instance_id, 'the demo was interrupted');
    END LOOP;
END
$demo$;

DROP TABLE IF EXISTS doors.till, doors.rate, doors.sale, doors.total, doors.began;

CREATE TABLE doors.till (
    number integer NOT NULL,
    currency text NOT NULL,
    amount numeric NOT NULL
);
COMMENT ON TABLE doors.till IS 'What the tills of a shop have sent.';
INSERT INTO doors.till VALUES (1, 'EUR', 12.50), (2, 'USD', 30), (3, 'EUR', 7), (4, 'USD', 5);

CREATE TABLE doors.rate (
    currency text NOT NULL,
    rate numeric NOT NULL,
    CONSTRAINT pk_rate PRIMARY KEY (currency)
);
COMMENT ON TABLE doors.rate IS 'What one euro is worth. Nobody knew the dollar and wrote 0.';
INSERT INTO doors.rate VALUES ('EUR', 1), ('USD', 0);

CREATE TABLE doors.sale (
    number integer NOT NULL,
    currency text NOT NULL,
    amount numeric NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL
);
COMMENT ON TABLE doors.sale IS 'The sales that were loaded.';

CREATE TABLE doors.total (
    currency text NOT NULL,
    euros numeric NOT NULL,
    omd_insert_module_instance_id bigint NOT NULL
);
COMMENT ON TABLE doors.total IS 'The sales of each currency, in euros.';

CALL omd.register_batch('b_doors');
CALL omd.register_module(
    'm_doors_sale', 'HSTG', 'doors.sale', 'HSTG', 'POSTGRES',
    'INSERT INTO doors.sale SELECT t.number, t.currency, t.amount,'
    ' current_setting(''omd.module_instance_id'')::bigint FROM doors.till AS t'
);
CALL omd.register_module(
    'm_doors_total', 'HSTG', 'doors.total', 'HSTG', 'POSTGRES',
    'INSERT INTO doors.total SELECT currency, round(sum(s.amount / r.rate), 2),'
    ' current_setting(''omd.module_instance_id'')::bigint'
    ' FROM doors.sale AS s INNER JOIN doors.rate AS r USING (currency) GROUP BY currency'
);
CALL omd.add_module_to_batch('b_doors', 'm_doors_sale', 10);
CALL omd.add_module_to_batch('b_doors', 'm_doors_total', 20);

CREATE TABLE doors.began (began_at timestamptz NOT NULL);
INSERT INTO doors.began VALUES (clock_timestamp());
COMMENT ON TABLE doors.began IS 'One row: the proof looks at what has happened since then.';
