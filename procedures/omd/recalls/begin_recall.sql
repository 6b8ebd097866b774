-- The run of a recall begins and ends in one transaction. What it undoes stands in its own row, as
-- in every run that undoes others, so that a rollback refuses for it what it refuses for these.

CREATE OR REPLACE FUNCTION omd.begin_recall(
    p_module_code text,
    p_instance_array bigint[],
    p_execution_context jsonb
)
RETURNS bigint
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $begin_recall$
DECLARE
    v_id bigint;
BEGIN
    SELECT o.p_module_instance_id INTO v_id
    FROM omd._open_module_instance(
        p_module_code, NULL, omd._session_context(p_execution_context), NULL, TRUE, FALSE
    ) AS o;
    UPDATE omd.module_instance AS mi SET
        processing_indicator = 'R',
        rollback_instance_array = ARRAY(
            SELECT DISTINCT i.id FROM unnest(p_instance_array) AS i (id) ORDER BY i.id
        )
    WHERE mi.module_instance_id = v_id;
    RETURN v_id;
END
$begin_recall$;

COMMENT ON FUNCTION omd.begin_recall IS
'For rooms: Begins a run of the Module p_module_code that undoes the runs p_instance_array, of '
'whatever Modules, and returns its id. p_execution_context: JSON about it. Errors: OM005, OM013, '
'OM014. Locks: the row of that Module.';
