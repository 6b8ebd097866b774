-- The spare partition comes with a constraint that proves its partition, so that nothing is scanned
-- under the lock, whatever the size.

CREATE OR REPLACE FUNCTION omd_dispatch._exchange_partition(
    p_family_code text,
    p_partition_code integer
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
SET lock_timeout = '50ms'
AS $exchange_partition$
DECLARE
    v_family omd_dispatch.task_conf_family_desc := omd_dispatch._require_family(p_family_code);
    v_table text := omd_dispatch._data_table(p_family_code);
    v_partition text := omd_dispatch._data_table(p_family_code, '_p' || p_partition_code);
    v_spare text := omd_dispatch._data_table(p_family_code, '_swap');
    v_is_live boolean;
BEGIN
    -- In the order of those who change the model.
    PERFORM omd.hold_off_vacuum(v_spare::regclass);
    PERFORM omd.hold_off_vacuum(v_partition::regclass);
    -- Who has the spare partition purges alone. An earlier purge may have ended before it has
    -- emptied it.
    PERFORM omd_dispatch._empty_spare_partition(p_family_code);
    EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', v_table);
    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_partition);
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %1$s WHERE status = ''PENDING'' AND suspension_id IS NULL)'
        ' OR EXISTS (SELECT FROM %1$s WHERE suspension_id IS NOT NULL)'
        ' OR EXISTS (SELECT FROM %1$s WHERE status = ''CLAIMED'')'
        ' OR EXISTS (SELECT FROM %1$s WHERE status = ''DEAD'' AND finished_at > $1)',
        v_partition
    )
    INTO v_is_live
    USING clock_timestamp() - v_family.retention;
    IF v_is_live THEN
        RETURN FALSE;
    END IF;
    EXECUTE format(
        $sql$
        ALTER TABLE %3$s ADD CONSTRAINT ck_partition CHECK (partition_code = %4$s);
        ALTER TABLE %1$s DETACH PARTITION %2$s;
        ALTER TABLE %2$s RENAME TO %5$I;
        ALTER TABLE %3$s RENAME TO %6$I;
        ALTER TABLE omd_dispatch.%5$I RENAME TO %7$I;
        ALTER TABLE %1$s ATTACH PARTITION %2$s FOR VALUES IN (%4$s);
        ALTER TABLE %2$s DROP CONSTRAINT ck_partition;
        COMMENT ON TABLE %2$s IS %8$L;
        COMMENT ON TABLE %3$s IS %9$L
        $sql$,
        v_table,
        v_partition,
        v_spare,
        p_partition_code,
        'task_data_' || lower(p_family_code) || '_old',
        'task_data_' || lower(p_family_code) || '_p' || p_partition_code,
        'task_data_' || lower(p_family_code) || '_swap',
        obj_description(v_partition::regclass, 'pg_class'),
        obj_description(v_spare::regclass, 'pg_class')
    );
    PERFORM omd.write_event(
        0, 0, 4, 'PURGED',
        format('%s: partition %s of family %s', omd.editor(), p_partition_code, p_family_code)
    );
    RETURN TRUE;
END
$exchange_partition$;

COMMENT ON FUNCTION omd_dispatch._exchange_partition IS
'Exchanges the partition p_partition_code of p_family_code for its empty spare partition, which '
'holds its rows then; returns FALSE, and changes nothing, when a live task is in it, or one that '
'died within the retention. Locks: the partition and the spare partition, against vacuums; then '
'both and the table of the family, ACCESS EXCLUSIVE, for which it waits 50 ms.';
GRANT EXECUTE ON FUNCTION omd_dispatch._exchange_partition TO omd_admin;
