-- An error takes everything back, locks too, and leaves the variables.

CREATE OR REPLACE FUNCTION omd_provenance._try_erase(
    p_subject jsonb,
    p_with_references boolean,
    p_with_statistics boolean
)
RETURNS jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $try_erase$
DECLARE
    v_items jsonb;
BEGIN
    BEGIN
        v_items := omd_provenance._erase(p_subject, p_with_references, p_with_statistics);
        RAISE EXCEPTION USING ERRCODE = 'ER000';
    EXCEPTION
        WHEN SQLSTATE 'ER000' THEN
            RETURN v_items;
    END;
END
$try_erase$;

COMMENT ON FUNCTION omd_provenance._try_erase IS
'Erases p_subject, as _erase does with p_with_references and p_with_statistics, takes it back and '
'returns the items. Errors: OM159. Locks: none are left.';
GRANT EXECUTE ON FUNCTION omd_provenance._try_erase TO omd_admin;
