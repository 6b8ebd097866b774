-- What is parsed is parsed with the rights of the caller.

CREATE OR REPLACE FUNCTION omd._look_at_due(
    p_limit integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $look_at_due$
DECLARE
    v_due record;
BEGIN
    FOR v_due IN SELECT d.module_code, d.declaration_id FROM omd._due_looks(p_limit) AS d LOOP
        IF v_due.declaration_id IS NULL THEN
            PERFORM omd._look_at_sql(v_due.module_code);
        ELSE
            PERFORM omd._look_again(v_due.declaration_id);
        END IF;
    END LOOP;
END
$look_at_due$;

COMMENT ON FUNCTION omd._look_at_due IS
'Looks up what the Modules of omd._due_looks(p_limit) read, with the rights of the caller. Locks: '
'Modules where something is new.';
GRANT EXECUTE ON FUNCTION omd._look_at_due TO omd_runner, omd_admin;
