-- A round in which nothing has happened locks nothing and writes nothing, so its commit waits for
-- no disk. Each ten seconds it goes on nevertheless, to note that somebody looks. A session whose
-- snapshot is the same as at its last look need not look at all: nothing was committed since.

CREATE OR REPLACE FUNCTION omd_event._is_idle(
    OUT p_is_idle boolean,
    OUT p_event_number bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $is_idle$
DECLARE
    v_snapshot text;
BEGIN
    SELECT
        s.published_datetime > clock_timestamp() - interval '10 s'
        AND current_setting('omd_event.idle_snapshot', TRUE) = pg_current_snapshot()::text
        AND pg_current_xact_id_if_assigned() IS NULL,
        s.event_number
    INTO STRICT p_is_idle, p_event_number
    FROM omd_event.setting AS s
    WHERE s.is_only BETWEEN TRUE AND TRUE
    ORDER BY s.is_only DESC
    LIMIT 1;
    IF p_is_idle THEN
        RETURN;
    END IF;

    SELECT
        s.published_datetime > clock_timestamp() - interval '10 s'
        AND NOT EXISTS (SELECT FROM omd_event.outbox)
        AND NOT EXISTS (
            SELECT FROM omd_event.gap AS g
            WHERE g.bound IS NULL
                OR pg_snapshot_xmin(pg_current_snapshot()) >= g.bound
                OR EXISTS (
                    SELECT FROM omd.followed_module_instance AS mi
                    WHERE g.subject_type = 'MODULE'
                        AND mi.module_instance_id BETWEEN g.first_id AND g.last_id
                )
                OR EXISTS (
                    SELECT FROM omd.followed_batch_instance AS bi
                    WHERE g.subject_type = 'BATCH'
                        AND bi.batch_instance_id BETWEEN g.first_id AND g.last_id
                )
        )
        -- Not EXISTS: the planner would expect to find a newer one soon, and read the whole table.
        AND coalesce(
            (
                SELECT max(mi.module_instance_id) FROM omd.followed_module_instance AS mi
            ) <= s.module_instance_id,
            TRUE
        )
        AND coalesce(
            (
                SELECT max(bi.batch_instance_id) FROM omd.followed_batch_instance AS bi
            ) <= s.batch_instance_id,
            TRUE
        )
        AND NOT EXISTS (
            SELECT FROM omd_event.open_run AS o
            LEFT JOIN LATERAL (
                SELECT u.*
                FROM (
                    SELECT
                        mi.end_datetime,
                        mi.has_proceeded
                    FROM omd.followed_module_instance AS mi
                    WHERE o.subject_type = 'MODULE' AND mi.module_instance_id = o.instance_id
                    UNION ALL
                    SELECT
                        bi.end_datetime,
                        bi.has_proceeded
                    FROM omd.followed_batch_instance AS bi
                    WHERE o.subject_type = 'BATCH' AND bi.batch_instance_id = o.instance_id
                ) AS u
                OFFSET 0
            ) AS x ON TRUE
            WHERE x.has_proceeded IS NULL
                OR x.end_datetime IS NOT NULL
                OR (x.has_proceeded AND NOT o.has_begun)
        ),
        s.event_number,
        pg_current_snapshot()::text
    INTO STRICT p_is_idle, p_event_number, v_snapshot
    FROM omd_event.setting AS s
    WHERE s.is_only BETWEEN TRUE AND TRUE
    ORDER BY s.is_only DESC
    LIMIT 1;
    IF p_is_idle AND pg_current_xact_id_if_assigned() IS NULL THEN
        PERFORM set_config('omd_event.idle_snapshot', v_snapshot, FALSE);
    END IF;
END
$is_idle$;

COMMENT ON FUNCTION omd_event._is_idle IS
'Returns whether nothing is there to be published, and the newest number. Locks: none.';
