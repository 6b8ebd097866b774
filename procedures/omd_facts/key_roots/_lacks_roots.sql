-- The column of an anchor that has joined a key root later is NULL until it is filled.

CREATE OR REPLACE FUNCTION omd_facts._lacks_roots(
    p_schema_name text,
    p_anchor_table text
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $lacks_roots$
DECLARE
    v_lacks_roots boolean;
BEGIN
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %I.%I AS a WHERE a.acm_kr_id IS NULL)',
        p_schema_name, p_anchor_table
    ) INTO v_lacks_roots;
    RETURN v_lacks_roots;
END
$lacks_roots$;

COMMENT ON FUNCTION omd_facts._lacks_roots IS
'Returns whether an anchor has rows without a key root. Locks: none.';
