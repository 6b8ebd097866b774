-- It counts what is old, and not what a purge would find to be needed yet: that costs as much as
-- the purge.

CREATE OR REPLACE FUNCTION omd._old_history(
    p_before timestamptz
)
RETURNS TABLE (schema_name text, table_code text, needs_keep boolean, old_rows bigint)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $old_history$
DECLARE
    v_step omd.purge_step;
BEGIN
    FOR v_step IN
        SELECT s.* FROM omd.purge_step AS s
        WHERE s.old_rows IS NOT NULL
        ORDER BY s.schema_name, s.position
    LOOP
        schema_name := v_step.schema_name;
        table_code := v_step.table_code;
        needs_keep := v_step.needs_keep;
        EXECUTE format('SELECT count(*) FROM (%s) AS o', v_step.old_rows)
        INTO old_rows
        USING CASE WHEN v_step.needs_keep THEN p_before ELSE 'infinity' END;
        RETURN NEXT;
    END LOOP;
END
$old_history$;

COMMENT ON FUNCTION omd._old_history IS
'Returns for each table that omd.purge deletes from, by room, how many rows are older than '
'p_before (1,000: so many or more); where needs_keep is FALSE, how many nobody needs, of any '
'age. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._old_history TO omd_reader;
