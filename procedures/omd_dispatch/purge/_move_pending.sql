-- A part at a time, so that nobody waits long for a row. A dead task has the retention, from its
-- death on, to be revived: it may have been created long before.

CREATE OR REPLACE FUNCTION omd_dispatch._move_pending(
    p_family_code text,
    p_partition_code integer,
    p_limit integer
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $move_pending$
DECLARE
    v_family omd_dispatch.task_conf_family_desc := omd_dispatch._require_family(p_family_code);
    v_current integer;
    v_rows bigint;
BEGIN
    PERFORM omd_dispatch._hold_model(p_family_code);
    v_current := omd_dispatch._partition_code(
        v_family.scheme_code, v_family.partition_count, clock_timestamp()
    );
    IF v_current = p_partition_code THEN
        RETURN 0::bigint;
    END IF;
    EXECUTE format(
        'UPDATE %1$s AS t SET partition_code = $2 FROM ('
        'SELECT p.task_id FROM %2$s AS p WHERE p.status = ''PENDING'''
        ' AND (p.suspension_id IS NULL OR p.suspension_id IS NOT NULL)'
        ' OR p.status = ''DEAD'' AND p.finished_at > $4'
        ' LIMIT $3 FOR UPDATE SKIP LOCKED) AS m'
        ' WHERE t.task_id = m.task_id AND t.partition_code = $1',
        omd_dispatch._data_table(p_family_code),
        omd_dispatch._data_table(p_family_code, '_p' || p_partition_code)
    ) USING p_partition_code, v_current, p_limit, clock_timestamp() - v_family.retention;
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN v_rows;
END
$move_pending$;

COMMENT ON FUNCTION omd_dispatch._move_pending IS
'Moves up to p_limit tasks of the partition p_partition_code of p_family_code to the present '
'partition: those that are pending, and those that died within the retention; returns their '
'number. Errors: OM005, OM070. Locks: the tasks; locked ones are passed over.';
GRANT EXECUTE ON FUNCTION omd_dispatch._move_pending TO omd_admin;
