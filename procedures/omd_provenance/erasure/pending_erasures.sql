-- It answers keys, so only who may erase may ask.

CREATE OR REPLACE FUNCTION omd_provenance.pending_erasures(
    p_erasure_id bigint
)
RETURNS TABLE (
    pending_id bigint,
    table_code text,
    columns jsonb,
    action text,
    keys jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $pending_erasures$
BEGIN
    p_erasure_id := omd.require_argument('p_erasure_id', p_erasure_id);
    IF NOT EXISTS (
        SELECT FROM omd_provenance.erasure AS e WHERE e.erasure_id = p_erasure_id
    ) THEN
        PERFORM omd.raise_error(
            'OM092', jsonb_build_object('object', 'erasure', 'key', p_erasure_id, 'of', '')
        );
    END IF;
    RETURN QUERY
    SELECT p.pending_id, p.table_code, p.columns, p.action, p.keys
    FROM omd_provenance.pending_erasure AS p
    WHERE p.erasure_id = p_erasure_id
    ORDER BY p.table_code, p.pending_id;
END
$pending_erasures$;

COMMENT ON FUNCTION omd_provenance.pending_erasures IS
'For the driver: Returns what the erasure p_erasure_id has still to take out of lake tables: each '
'table with the columns that hold the key, {column: attribute}, the action, and the keys. No row: '
'nothing. Errors: OM005: p_erasure_id is NULL; OM092: there is no such erasure. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance.pending_erasures TO omd_admin;
