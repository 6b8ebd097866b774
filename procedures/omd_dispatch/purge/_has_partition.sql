-- A partition that does not exist is an answer, an unknown family is an error.

CREATE OR REPLACE FUNCTION omd_dispatch._has_partition(
    p_family_code text,
    p_partition_code integer
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $has_partition$
BEGIN
    PERFORM omd_dispatch._require_family(p_family_code);
    p_partition_code := omd.require_argument('p_partition_code', p_partition_code);
    RETURN to_regclass(
        omd_dispatch._data_table(p_family_code, '_p' || p_partition_code)
    ) IS NOT NULL;
END
$has_partition$;

COMMENT ON FUNCTION omd_dispatch._has_partition IS
'Returns whether the ring of p_family_code has the partition p_partition_code. Errors: OM005: an '
'argument is NULL; OM070: the family is unknown. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch._has_partition TO omd_admin;
