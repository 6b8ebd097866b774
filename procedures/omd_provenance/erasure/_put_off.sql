-- The files of a lake table are rewritten later, by Spark, which must know the keys. They are kept
-- where nobody reads, until then.

CREATE OR REPLACE FUNCTION omd_provenance._put_off(
    p_table_code text,
    p_columns jsonb,
    p_action text,
    p_keys jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $put_off$
BEGIN
    INSERT INTO omd_provenance.pending_erasure (table_code, columns, action, keys)
    VALUES (p_table_code, p_columns, p_action, p_keys);
    RETURN jsonb_build_object(
        'layer', 'LAKE', 'table_code', p_table_code, 'outcome', 'PENDING',
        'key_count', NULL, 'row_count', NULL, 'text', 'omd erase --finish rewrites it'
    );
END
$put_off$;

COMMENT ON FUNCTION omd_provenance._put_off IS
'Notes that p_keys are still to be erased from the lake table p_table_code, which has them in '
'p_columns, by p_action, and returns the item. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._put_off TO omd_admin;
