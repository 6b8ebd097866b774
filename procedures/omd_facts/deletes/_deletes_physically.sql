-- A session asks for it by a word, and a wrong word would delete less than it says.

CREATE OR REPLACE FUNCTION omd_facts._deletes_physically(
    p_interface_id integer
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $deletes_physically$
DECLARE
    v_word CONSTANT text := coalesce(current_setting('omd_facts.delete_type', TRUE), '');
BEGIN
    IF v_word NOT IN ('', 'LOGICAL', 'PHYSICAL') THEN
        PERFORM omd.raise_error('OM063', jsonb_build_object('value', left(v_word, 100)));
    ELSIF v_word = 'PHYSICAL' THEN
        PERFORM omd_facts._require_physical(p_interface_id);
    END IF;
    RETURN v_word = 'PHYSICAL';
END
$deletes_physically$;

COMMENT ON FUNCTION omd_facts._deletes_physically IS
'Returns whether the session deletes rows of the interface p_interface_id physically. Errors: '
'OM063: the setting has another word, OM156: the delivery does not allow it, OM159. Locks: the '
'position, against readers, if so.';
