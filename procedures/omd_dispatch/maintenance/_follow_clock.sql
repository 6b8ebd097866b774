-- While the clock of the server was ahead, tasks became due then, and backends and sources were
-- noted as of then. When it is set back all this would wait until the clock comes there once more:
-- for an hour, when it was an hour ahead. A task for which somebody has named a time keeps it.
-- What lies ahead of the clock is looked for in two small tables. A source that was read lies there
-- until this has been done, so nobody else may forget it before.

CREATE OR REPLACE FUNCTION omd_dispatch._follow_clock()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $follow_clock$
DECLARE
    v_family_code text;
BEGIN
    -- The clock is read after the snapshot was taken: else a renewal of this moment lies ahead.
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.backend_registration AS b
        WHERE b.registration_time > clock_timestamp()
    ) AND NOT EXISTS (
        SELECT FROM omd_dispatch.task_source AS s WHERE s.last_fired_at > clock_timestamp()
    ) THEN
        RETURN;
    END IF;
    FOR v_family_code IN
        SELECT DISTINCT t.family_code FROM omd_dispatch.task_conf_type_desc AS t
    LOOP
        CONTINUE WHEN NOT omd_dispatch._try_hold_model(v_family_code);
        EXECUTE format(
            $sql$
            UPDATE %1$s AS t SET
                execution_time = t.execution_time - (f.since - clock_timestamp()),
                pending_since = clock_timestamp()
            FROM (
                SELECT a.task_id, coalesce(a.pending_since, a.created_at) AS since
                FROM %1$s AS a
                WHERE a.status = 'PENDING'
                    AND a.execution_time > clock_timestamp()
                    AND coalesce(a.pending_since, a.created_at) > clock_timestamp()
                    AND (a.attempt > 0 OR a.execution_time <= a.created_at + interval '1 second')
                FOR UPDATE SKIP LOCKED
            ) AS f
            WHERE t.task_id = f.task_id
            $sql$,
            omd_dispatch._model_table(v_family_code)
        );
    END LOOP;
    -- Who lives renews it, and who does not is dead when its TTL is over.
    UPDATE omd_dispatch.backend_registration AS b SET registration_time = clock_timestamp()
    WHERE b.backend_id IN (
        SELECT a.backend_id FROM omd_dispatch.backend_registration AS a
        WHERE a.registration_time > clock_timestamp()
        FOR UPDATE SKIP LOCKED
    );
    UPDATE omd_dispatch.task_source AS s SET last_fired_at = NULL, retry_time = NULL
    WHERE (s.family_code, s.task_type) IN (
        SELECT a.family_code, a.task_type FROM omd_dispatch.task_source AS a
        WHERE a.last_fired_at > clock_timestamp()
        FOR UPDATE SKIP LOCKED
    );
END
$follow_clock$;

COMMENT ON FUNCTION omd_dispatch._follow_clock IS
'When the clock was set back: lets tasks that became due while it was ahead be due now, backends '
'that were renewed then count from now, and sources that were read then be read again. Locks: '
'these, but what others hold is passed over.';
