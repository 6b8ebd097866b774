-- Of runs that are undone as well: what they kept stays until it is purged.

CREATE OR REPLACE FUNCTION omd_decision.erase_records(
    p_holders jsonb,
    p_keys jsonb
)
RETURNS TABLE (table_code text, row_count bigint)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_records$
BEGIN
    table_code := 'omd_decision.cycle';
    DELETE FROM omd_decision.cycle AS c
    USING omd_decision.run AS r, omd_decision._holding_stages(p_holders) AS h
    WHERE c.module_instance_id = r.module_instance_id
        AND r.stage_id = h.stage_id
        AND (
            omd_decision._holds_key(c.key, h.columns, p_keys)
            OR omd_decision._holds_key(c.params, h.columns, p_keys)
            OR omd_decision._holds_key(c.result, h.columns, p_keys)
            OR omd_decision._holds_key(c.trace, h.columns, p_keys)
        );
    GET DIAGNOSTICS row_count = ROW_COUNT;
    RETURN NEXT;
    table_code := 'omd_decision.reject';
    DELETE FROM omd_decision.reject AS j
    USING omd_decision.run AS r, omd_decision._holding_stages(p_holders) AS h
    WHERE j.module_instance_id = r.module_instance_id
        AND r.stage_id = h.stage_id
        AND (
            omd_decision._holds_key(j.key, h.columns, p_keys)
            OR omd_decision._holds_key(j.record, h.columns, p_keys)
        );
    GET DIAGNOSTICS row_count = ROW_COUNT;
    RETURN NEXT;
END
$erase_records$;

COMMENT ON FUNCTION omd_decision.erase_records IS
'For rooms: Deletes the cycles and rejects that hold one of p_keys, of stages that read one of '
'p_holders, [{"relations", "columns": {column: attribute of the key}}], and returns how many. '
'Locks: these rows.';
