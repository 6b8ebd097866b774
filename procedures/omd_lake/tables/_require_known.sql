-- Several routines refuse an unknown table alike.

CREATE OR REPLACE FUNCTION omd_lake._require_known(
    p_table_code text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_known$
BEGIN
    IF NOT omd_lake.is_known(p_table_code) THEN
        PERFORM omd.raise_error('OM020', jsonb_build_object('table_code', p_table_code));
    END IF;
END
$require_known$;

COMMENT ON FUNCTION omd_lake._require_known IS
'Refuses a table p_table_code that is_known does not know. Errors: OM020. Locks: none.';
