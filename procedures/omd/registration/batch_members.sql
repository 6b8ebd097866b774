-- A driver that runs a Batch itself needs the members in the order in which run_batch runs them.

CREATE OR REPLACE FUNCTION omd.batch_members(
    p_batch_code text
)
RETURNS TABLE (
    member_type text,
    member_code text,
    sequence integer,
    inactive_indicator text,
    module_kind_code text,
    engine_code text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $batch_members$
DECLARE
    v_batch_id integer := omd._require_batch(p_batch_code);
BEGIN
    RETURN QUERY
    SELECT
        'MODULE', m.module_code, bm.sequence, bm.inactive_indicator, m.module_kind_code,
        m.engine_code
    FROM omd.batch_module AS bm
    INNER JOIN omd.module AS m USING (module_id)
    WHERE bm.batch_id = v_batch_id
    ORDER BY bm.sequence, m.module_code;
    RETURN QUERY
    SELECT
        'BATCH', b.batch_code, bh.sequence, bh.inactive_indicator, NULL::text, NULL::text
    FROM omd.batch_hierarchy AS bh
    INNER JOIN omd.batch AS b USING (batch_id)
    WHERE bh.parent_batch_id = v_batch_id
    ORDER BY bh.sequence, b.batch_code;
END
$batch_members$;

COMMENT ON FUNCTION omd.batch_members IS
'Returns what the Batch p_batch_code runs, in order: Modules by sequence, then child Batches by '
'sequence. member_type is MODULE or BATCH. module_kind_code and engine_code are those of a Module. '
'Errors: OM001, OM005. Locks: none. May be NULL: module_kind_code, engine_code.';
GRANT EXECUTE ON FUNCTION omd.batch_members TO omd_reader;
