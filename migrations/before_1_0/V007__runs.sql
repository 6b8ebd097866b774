-- V007: which statement of which backend executes an in-database run, who began a run, how early a
-- start may be. Applied once.

-- Their parameters change: their files create them again. A call that executes one of them goes on,
-- under another name, until sql/cleanup/drop_retired.sql drops it.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'batch_abort', 'batch_skip', 'execute_module', 'module_abort', 'module_skip', 'run_batch'
    ] LOOP
        IF to_regproc('omd.' || v_routine) IS NOT NULL THEN
            EXECUTE format(
                'COMMENT ON ROUTINE omd.%1$I IS %3$L; ALTER ROUTINE omd.%1$I RENAME TO %2$I',
                v_routine, '_former_' || v_routine, 'Retired.'
            );
        END IF;
    END LOOP;
END
$do$;

ALTER TABLE omd.batch_instance
ADD COLUMN statement_start timestamptz,
ADD COLUMN backend_pid integer,
ADD COLUMN started_by text;
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
ADD COLUMN started_by text;
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

-- A run of the former version holds an advisory lock. One that begins by a call from before the
-- upgrade records what tells now that it lives, too.
DO $do$
BEGIN
    IF to_regproc('omd.bind_session') IS NOT NULL THEN
        CREATE OR REPLACE FUNCTION omd.bind_session(
            p_instance_type text,
            p_instance_id bigint
        )
        RETURNS void
        LANGUAGE plpgsql
        VOLATILE
        PARALLEL UNSAFE
        SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
        AS $bind_session$
        BEGIN
            PERFORM pg_advisory_lock(omd.session_lock_key(p_instance_type, p_instance_id));
            IF p_instance_type = 'BATCH' THEN
                UPDATE omd.batch_instance AS bi SET
                    backend_pid = pg_backend_pid(), statement_start = statement_timestamp()
                WHERE bi.batch_instance_id = p_instance_id;
            ELSE
                UPDATE omd.module_instance AS mi SET
                    backend_pid = pg_backend_pid(), statement_start = statement_timestamp()
                WHERE mi.module_instance_id = p_instance_id;
            END IF;
        END
        $bind_session$;
    END IF;
END
$do$;
