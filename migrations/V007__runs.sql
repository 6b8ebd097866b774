-- V007: which statement of which backend executes an in-database run, who began a run, how early a
-- start may be. Applied once.

-- Their parameters change: their files create them again. An in-database run that executes at this
-- moment (it holds an advisory lock) ends as it began: what it executes stays, under another name,
-- and what it still calls by a former name is there for it. A later migration may drop all five.
DO $do$
DECLARE
    v_routine text;
    v_is_executing boolean := EXISTS (
        SELECT FROM pg_locks AS l
        WHERE l.locktype = 'advisory'
            AND l.objsubid = 1
            AND l.database = (
                SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()
            )
            AND (l.classid::bigint * 4294967296 + l.objid::bigint) / 1099511627776
            IN (7302501, 7302502)
    );
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'run_batch(text, bigint, bigint, text)',
        '_execute_batch(text, bigint, bigint, text, boolean)',
        'execute_module(bigint, text, text, boolean)'
    ] LOOP
        IF NOT v_is_executing THEN
            EXECUTE 'DROP PROCEDURE IF EXISTS omd.' || v_routine;
        ELSIF to_regprocedure('omd.' || v_routine) IS NOT NULL THEN
            EXECUTE format(
                'REVOKE ALL ON PROCEDURE omd.%1$s FROM omd_runner; '
                'ALTER PROCEDURE omd.%1$s RENAME TO %2$I',
                v_routine, '_former_' || ltrim(split_part(v_routine, '(', 1), '_')
            );
        END IF;
    END LOOP;

    IF v_is_executing THEN
        CREATE PROCEDURE omd.execute_batch(
            p_batch_code text,
            p_parent_batch_instance_id bigint,
            INOUT p_batch_instance_id bigint DEFAULT NULL,
            INOUT p_execution_status_code text DEFAULT NULL,
            INOUT p_is_cancelled boolean DEFAULT NULL
        )
        LANGUAGE plpgsql
        SECURITY INVOKER
        AS $execute_batch$
        BEGIN
            CALL omd._execute_batch(
                p_batch_code, p_parent_batch_instance_id, FALSE, p_batch_instance_id,
                p_execution_status_code, p_is_cancelled
            );
        END
        $execute_batch$;

        CREATE FUNCTION omd.release_session(
            p_instance_type text,
            p_instance_id bigint
        )
        RETURNS void
        LANGUAGE sql
        VOLATILE
        PARALLEL UNSAFE
        SET search_path = pg_catalog, pg_temp
        AS $release_session$
            SELECT pg_advisory_unlock(
                CASE p_instance_type WHEN 'BATCH' THEN 7302502 ELSE 7302501 END * 1099511627776
                + p_instance_id % 1099511627776
            )
        $release_session$;

        COMMENT ON PROCEDURE omd.execute_batch IS 'For runs that executed during an upgrade.';
        COMMENT ON FUNCTION omd.release_session IS 'For runs that executed during an upgrade.';
        REVOKE ALL ON PROCEDURE omd.execute_batch FROM PUBLIC;
        REVOKE ALL ON FUNCTION omd.release_session FROM PUBLIC;
        GRANT EXECUTE ON PROCEDURE omd.execute_batch TO omd_runner;
        GRANT EXECUTE ON FUNCTION omd.release_session TO omd_runner;
    END IF;
END
$do$;

DROP PROCEDURE IF EXISTS omd.batch_abort(bigint);
DROP PROCEDURE IF EXISTS omd.batch_skip(bigint);
DROP PROCEDURE IF EXISTS omd.module_abort(bigint);
DROP PROCEDURE IF EXISTS omd.module_skip(bigint);

ALTER TABLE omd.batch_instance
ADD COLUMN statement_start timestamptz,
ADD COLUMN backend_pid integer,
ADD COLUMN started_by text,
ADD CONSTRAINT fk_batch_instance_reason FOREIGN KEY (reason_code)
REFERENCES omd.reason (reason_code) DEFERRABLE INITIALLY DEFERRED;
COMMENT ON COLUMN omd.batch_instance.is_session_bound IS
'The run is alive as long as its statement executes (run_batch).';
COMMENT ON COLUMN omd.batch_instance.statement_start IS
'When the statement that executes an in-database run began: its statement_timestamp().';
COMMENT ON COLUMN omd.batch_instance.backend_pid IS
'The backend that executes an in-database run.';
COMMENT ON COLUMN omd.batch_instance.started_by IS
'The role that connected and, after SET ROLE, the role it had taken on. NULL: before this was '
'recorded.';

ALTER TABLE omd.module_instance
ADD COLUMN statement_start timestamptz,
ADD COLUMN backend_pid integer,
ADD COLUMN started_by text,
ADD CONSTRAINT fk_module_instance_reason FOREIGN KEY (reason_code)
REFERENCES omd.reason (reason_code) DEFERRABLE INITIALLY DEFERRED;
COMMENT ON COLUMN omd.module_instance.is_session_bound IS
'The run is alive as long as its statement executes (run_module).';
COMMENT ON COLUMN omd.module_instance.statement_start IS
'When the statement that executes an in-database run began: its statement_timestamp().';
COMMENT ON COLUMN omd.module_instance.backend_pid IS
'The backend that executes an in-database run.';
COMMENT ON COLUMN omd.module_instance.started_by IS
'The role that connected and, after SET ROLE, the role it had taken on. NULL: before this was '
'recorded.';

-- In-database runs of the former version held an advisory lock each. Who holds it now executes its
-- run now; where nobody does, the run is over, and the next begin gives it up.
WITH holder AS (
    SELECT
        l.classid::bigint * 4294967296 + l.objid::bigint AS lock_key,
        a.pid,
        a.query_start
    FROM pg_locks AS l
    INNER JOIN pg_stat_activity AS a ON l.pid = a.pid
    WHERE
        l.locktype = 'advisory'
        AND l.granted
        AND l.objsubid = 1
        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
),

batch AS (
    UPDATE omd.batch_instance AS bi SET backend_pid = h.pid, statement_start = h.query_start
    FROM holder AS h
    WHERE
        bi.is_session_bound
        AND bi.execution_status_code = 'E'
        AND h.lock_key = 7302502 * 1099511627776 + bi.batch_instance_id % 1099511627776
)

UPDATE omd.module_instance AS mi SET backend_pid = h.pid, statement_start = h.query_start
FROM holder AS h
WHERE
    mi.is_session_bound
    AND mi.execution_status_code = 'E'
    AND h.lock_key = 7302501 * 1099511627776 + mi.module_instance_id % 1099511627776;

ALTER TABLE omd.frequency
ADD COLUMN frequency_tolerance interval,
ADD CONSTRAINT ck_frequency_tolerance CHECK (frequency_tolerance >= interval '0');
COMMENT ON COLUMN omd.frequency.frequency_tolerance IS
'How much earlier than its interval a start may be. NULL: 5 % of the interval, at most one hour.';

COMMENT ON TABLE omd.reason IS
'Why an evaluation aborted or skipped an instance: every reason code an instance can carry.';

-- No run holds an advisory lock any more.
DROP FUNCTION IF EXISTS omd.session_lives(text, bigint);
DROP FUNCTION IF EXISTS omd._bind_session(text, bigint);
DROP FUNCTION IF EXISTS omd._release_session(text, bigint);
DROP FUNCTION IF EXISTS omd._session_lock_key(text, bigint);
