-- What was declared stays; the tables under it may be others now.

CREATE OR REPLACE FUNCTION omd._look_again(
    p_declaration_id bigint
)
RETURNS void
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT omd.save_inputs(d.module_id, d.origin, d.inputs, d.replaces_all, d.text_hash)
    FROM omd.module_declaration AS d
    WHERE d.declaration_id = p_declaration_id AND d.upto_id IS NULL;
END;

COMMENT ON FUNCTION omd._look_again IS
'Looks up the tables under the declaration p_declaration_id again. Locks: the Module, where '
'something is new.';
GRANT EXECUTE ON FUNCTION omd._look_again TO omd_runner, omd_admin;
