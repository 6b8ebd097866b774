-- A program calls session_cost before and after the CALL that performs a run, then this: the server
-- shows the cost of a statement only after it, so no routine reads its own.

CREATE OR REPLACE PROCEDURE omd_event.record_cost(
    p_subject_type text,
    p_instance_id bigint,
    p_before jsonb
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_cost$
DECLARE
    v_cost jsonb;
BEGIN
    PERFORM omd.raise_error('OM005', jsonb_build_object('argument', a.argument))
    FROM (
        VALUES
        ('p_subject_type', p_subject_type IS NULL, 1),
        ('p_instance_id', p_instance_id IS NULL, 2)
    ) AS a (argument, is_missing, n)
    WHERE a.is_missing
    ORDER BY a.n;
    PERFORM omd_event._require_run(p_subject_type, p_instance_id);
    v_cost := omd_event.session_cost();
    IF v_cost IS NULL THEN
        RETURN;
    END IF;
    p_before := omd.require_argument('p_before', p_before);
    IF jsonb_typeof(p_before) <> 'object' OR EXISTS (
        SELECT FROM jsonb_each(v_cost) AS n
        WHERE jsonb_typeof(p_before -> n.key) IS DISTINCT FROM jsonb_typeof(n.value)
    ) THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_before',
                'value', left(p_before::text, 200),
                'expected', 'what omd_event.session_cost() returned'
            )
        );
    END IF;
    -- What another session has cost tells nothing of this one.
    IF (p_before ->> 'pid', p_before ->> 'began') <> (v_cost ->> 'pid', v_cost ->> 'began') THEN
        RETURN;
    END IF;
    INSERT INTO omd_event.run_cost AS c (
        subject_type, instance_id, wal_bytes, wal_records, blocks_read, blocks_hit, blocks_written
    )
    SELECT
        p_subject_type,
        p_instance_id,
        d.wal_bytes,
        d.wal_records,
        d.blocks_read,
        d.blocks_hit,
        d.blocks_written
    FROM (
        SELECT
            max(s.cost) FILTER (WHERE s.key = 'wal_bytes') AS wal_bytes,
            max(s.cost) FILTER (WHERE s.key = 'wal_records') AS wal_records,
            max(s.cost) FILTER (WHERE s.key = 'blocks_read') AS blocks_read,
            max(s.cost) FILTER (WHERE s.key = 'blocks_hit') AS blocks_hit,
            max(s.cost) FILTER (WHERE s.key = 'blocks_written') AS blocks_written
        FROM (
            SELECT
                n.key,
                -- Somebody may have set the counters back to 0.
                least(
                    greatest((n.value #>> '{}')::numeric - (p_before ->> n.key)::numeric, 0),
                    9223372036854775807
                )::bigint AS cost
            FROM jsonb_each(v_cost) AS n
            WHERE n.key NOT IN ('pid', 'began')
        ) AS s
    ) AS d
    ON CONFLICT (subject_type, instance_id) DO UPDATE SET
        wal_bytes = excluded.wal_bytes,
        wal_records = excluded.wal_records,
        blocks_read = excluded.blocks_read,
        blocks_hit = excluded.blocks_hit,
        blocks_written = excluded.blocks_written;
END
$record_cost$;

COMMENT ON PROCEDURE omd_event.record_cost IS
'For programs: '
'Records what this session has cost the server since p_before as the cost of a run, instead of '
'what was recorded for it. p_subject_type: MODULE or BATCH. p_instance_id: the Module Instance or '
'Batch Instance. p_before: what omd_event.session_cost() returned in this session before the run; '
'what another session has returned is not used, and nothing is recorded. Call session_cost() again '
'right before this, so that the server has added everything up. Before PostgreSQL 18 nothing is '
'recorded. Errors: OM003: there is no such Batch Instance; OM004: there is no such Module '
'Instance; OM005: an argument is NULL; OM013: p_subject_type or p_before is something else. Locks: '
'the row of omd_event.run_cost. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_event.record_cost TO omd_runner;
