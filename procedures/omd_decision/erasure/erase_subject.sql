-- Of runs that are undone as well: what they kept stays until it is purged.

CREATE OR REPLACE FUNCTION omd_decision.erase_subject(
    p_subject jsonb
)
RETURNS TABLE (
    layer text,
    table_code text,
    outcome text,
    key_count bigint,
    row_count bigint,
    remark text,
    tables text[]
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_subject$
DECLARE
    v_keys CONSTANT jsonb := p_subject -> 'keys';
    v_holders CONSTANT jsonb := jsonb_path_query_array(
        p_subject -> 'holders', '$[*] ? (@.relations != null)'
    );
BEGIN
    layer := 'DECISION';
    outcome := 'DELETED';
    key_count := NULL;
    remark := NULL;
    tables := NULL;
    table_code := 'omd_decision.cycle';
    DELETE FROM omd_decision.cycle AS c
    USING omd_decision.run AS r, omd_decision._holding_stages(v_holders) AS h
    WHERE c.module_instance_id = r.module_instance_id
        AND r.stage_id = h.stage_id
        AND (
            omd_decision._holds_key(c.key, h.columns, v_keys)
            OR omd_decision._holds_key(c.params, h.columns, v_keys)
            OR omd_decision._holds_key(c.result, h.columns, v_keys)
            OR omd_decision._holds_key(c.trace, h.columns, v_keys)
        );
    GET DIAGNOSTICS row_count = ROW_COUNT;
    IF row_count > 0 THEN
        RETURN NEXT;
    END IF;
    table_code := 'omd_decision.reject';
    DELETE FROM omd_decision.reject AS j
    USING omd_decision.run AS r, omd_decision._holding_stages(v_holders) AS h
    WHERE j.module_instance_id = r.module_instance_id
        AND r.stage_id = h.stage_id
        AND (
            omd_decision._holds_key(j.key, h.columns, v_keys)
            OR omd_decision._holds_key(j.record, h.columns, v_keys)
        );
    GET DIAGNOSTICS row_count = ROW_COUNT;
    IF row_count > 0 THEN
        RETURN NEXT;
    END IF;
END
$erase_subject$;

COMMENT ON FUNCTION omd_decision.erase_subject IS
'For rooms: Erases the subject p_subject, {"keys", "holders": [{"relations", "columns": {column: '
'attribute of the key}}]}, from the cycles and rejects of stages that read what holds it. Returns '
'what left which table. Locks: these rows.';
