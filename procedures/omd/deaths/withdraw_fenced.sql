-- A driver says at the begin that all its writers are fenced. Before it gives out what could write
-- without the fence, it takes that back; a death that is reported meanwhile waits for the row.

CREATE OR REPLACE PROCEDURE omd.withdraw_fenced(
    p_instance_type text,
    p_instance_id bigint
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $withdraw_fenced$
BEGIN
    p_instance_type := omd.require_argument('p_instance_type', p_instance_type);
    p_instance_id := omd.require_argument('p_instance_id', p_instance_id);
    IF p_instance_type NOT IN ('MODULE', 'BATCH') THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_instance_type',
                'value', p_instance_type,
                'expected', 'MODULE or BATCH'
            )
        );
    ELSIF p_instance_type = 'MODULE' THEN
        UPDATE omd.module_instance AS mi SET execution_context = mi.execution_context - 'writers'
        WHERE mi.module_instance_id = p_instance_id
            AND mi.execution_status_code = 'E'
            AND mi.execution_context ->> 'writers' = 'FENCED';
    ELSE
        UPDATE omd.batch_instance AS bi SET execution_context = bi.execution_context - 'writers'
        WHERE bi.batch_instance_id = p_instance_id
            AND bi.execution_status_code = 'E'
            AND bi.execution_context ->> 'writers' = 'FENCED';
    END IF;
END
$withdraw_fenced$;

COMMENT ON PROCEDURE omd.withdraw_fenced IS
'For the driver: Takes back that all writers of a run are fenced, which its execution context says '
'("writers": "FENCED"): from now on only its lease says when it is dead. Call it, and commit, '
'before something gets the connection string of the run. p_instance_type: MODULE or BATCH. '
'p_instance_id: its instance; one that has ended, or never said so, stays as it is. Errors: OM005, '
'OM013. Locks: the instance row. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd.withdraw_fenced TO omd_runner;
