-- It is emptied after the exchange has committed, and before the next one, in case that was the end
-- of the former.

CREATE OR REPLACE FUNCTION omd_dispatch._empty_twin(
    p_family_code text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $empty_twin$
DECLARE
    v_is_filled boolean;
BEGIN
    EXECUTE format(
        'SELECT EXISTS (SELECT FROM %s)', omd_dispatch._data_table(p_family_code, '_swap')
    ) INTO v_is_filled;
    IF v_is_filled THEN
        EXECUTE format('TRUNCATE TABLE %s', omd_dispatch._data_table(p_family_code, '_swap'));
    END IF;
END
$empty_twin$;

COMMENT ON FUNCTION omd_dispatch._empty_twin IS
'Empties the twin of the slots of p_family_code. Locks: the twin, ACCESS EXCLUSIVE.';
REVOKE ALL ON FUNCTION omd_dispatch._empty_twin FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._empty_twin TO omd_admin;
