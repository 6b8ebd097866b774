-- A run of a stage begins under the row of its Module, which the recall locks itself.

CREATE OR REPLACE FUNCTION omd_decision.recall_locks(
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $recall_locks$
BEGIN
    PERFORM FROM omd_decision.stage AS s
    WHERE s.stage_id IN (
        SELECT r.stage_id FROM omd_decision._recalled_stages(p_instance_array) AS r
    )
    ORDER BY s.stage_id
    FOR KEY SHARE;
END
$recall_locks$;

COMMENT ON FUNCTION omd_decision.recall_locks IS
'For rooms: Locks the stages of the runs p_instance_array against being removed, until the '
'transaction ends; what keeps runs from beginning is the row of the Module. Locks: these stages, '
'in the order of their ids.';
