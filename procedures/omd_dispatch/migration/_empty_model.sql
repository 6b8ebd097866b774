-- The copy that is not kept in step any more must not be taken for the tasks.

CREATE OR REPLACE FUNCTION omd_dispatch._empty_model(
    p_family_code text,
    p_is_new boolean
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $empty_model$
BEGIN
    EXECUTE format('TRUNCATE TABLE %s', omd_dispatch._model_table(p_family_code, p_is_new));
    IF NOT p_is_new THEN
        EXECUTE format(
            'TRUNCATE TABLE omd_dispatch.%I', 'old_task_criteria_' || lower(p_family_code)
        );
    END IF;
END
$empty_model$;

COMMENT ON FUNCTION omd_dispatch._empty_model IS
'Removes all tasks of p_family_code from the new model, or with p_is_new FALSE from the old one. '
'Locks: its tables, ACCESS EXCLUSIVE.';
