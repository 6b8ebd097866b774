-- The instances are added to those that the begin has found, so that the record of the run names
-- all that it undoes.

CREATE OR REPLACE FUNCTION omd._ask_rollback(
    p_module_instance_id bigint,
    p_instance_array bigint[]
)
RETURNS text
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $ask_rollback$
DECLARE
    v_platform_code text;
BEGIN
    UPDATE omd.module_instance AS mi SET
        processing_indicator = 'R',
        companion_instance_array = NULL,
        rollback_instance_array = ARRAY(
            SELECT DISTINCT u.id
            FROM unnest(mi.rollback_instance_array || p_instance_array) AS u (id)
            ORDER BY u.id
        )
    FROM omd.module AS m
    WHERE mi.module_instance_id = p_module_instance_id
        AND mi.module_id = m.module_id
        AND mi.execution_status_code = 'E'
        AND mi.processing_indicator IN ('P', 'R')
        AND NOT EXISTS (
            SELECT FROM omd.module_instance AS other
            WHERE other.module_instance_id = ANY(p_instance_array)
                AND (other.module_id <> mi.module_id OR other.execution_status_code = 'E')
        )
    RETURNING m.platform_code INTO v_platform_code;
    IF NOT FOUND THEN
        PERFORM omd._raise_module_instance_state(p_module_instance_id, 'roll back');
    END IF;
    RETURN v_platform_code;
END
$ask_rollback$;

COMMENT ON FUNCTION omd._ask_rollback IS
'Sets the indicator of the executing Module Instance p_module_instance_id to R, for the instances '
'p_instance_array of its Module besides those that it has to undo already. Returns the platform of'
' its target. Errors: OM004, OM101: it does not execute. Locks: the instance row.';
GRANT EXECUTE ON FUNCTION omd._ask_rollback TO omd_runner;
