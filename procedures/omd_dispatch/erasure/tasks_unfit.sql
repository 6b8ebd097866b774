-- A key criterion makes the key of a task, which is kept as a hash, so it can't become empty.

CREATE OR REPLACE FUNCTION omd_dispatch.tasks_unfit(
    p_family_code text,
    p_names text[],
    p_is_nulled boolean
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $tasks_unfit$
DECLARE
    v_name text;
    v_is_key boolean;
BEGIN
    IF NOT EXISTS (
        SELECT FROM omd_dispatch.task_conf_family_desc AS f WHERE f.family_code = p_family_code
    ) THEN
        RETURN 'there is no such family of tasks';
    END IF;
    FOREACH v_name IN ARRAY p_names LOOP
        CONTINUE WHEN v_name LIKE 'payload.%' AND v_name <> 'payload.';
        SELECT m.is_key INTO v_is_key
        FROM omd_dispatch.task_conf_family_model AS m
        WHERE m.family_code = p_family_code AND m.criterion = v_name;
        IF NOT FOUND THEN
            RETURN format('%s is no criterion, nor payload.<path>', left(v_name, 60));
        ELSIF v_is_key AND p_is_nulled THEN
            RETURN format('%s is a key criterion, and can''t become empty: DELETE', v_name);
        END IF;
    END LOOP;
    RETURN NULL;
END
$tasks_unfit$;

COMMENT ON FUNCTION omd_dispatch.tasks_unfit IS
'For rooms: Returns why tasks of the family p_family_code can''t be erased by p_names, each a '
'criterion or payload.<path>; NULL: they can. p_is_nulled: these are to become empty. Locks: none.';
