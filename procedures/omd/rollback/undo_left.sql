-- A failed job that a program outside begins is undone by its next begin. Who does not want to wait
-- for that begins and skips it here, so that only the undoing is done.

CREATE OR REPLACE PROCEDURE omd.undo_left(
    p_module_code text,
    INOUT p_outcome text DEFAULT NULL,
    INOUT p_module_instance_id bigint DEFAULT NULL,
    INOUT p_instance_array bigint[] DEFAULT NULL,
    INOUT p_detail text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $undo_left$
DECLARE
    v_module_id integer;
    v_platform_code text;
    v_indicator text;
BEGIN
    SELECT d.module_id, d.platform_code INTO v_module_id, v_platform_code
    FROM omd.module_definition(p_module_code) AS d;
    IF v_platform_code <> 'POSTGRES' THEN
        p_outcome := 'ELSEWHERE';
        p_detail := format(
            'Its target is on %s: whoever begins it next performs the rollback there. %s',
            v_platform_code,
            coalesce(
                omd.start_hint(v_module_id),
                format('omd run %s', omd.shell_argument(p_module_code))
            )
        );
        RETURN;
    END IF;
    IF coalesce(cardinality(omd.pending_rollback(v_module_id)), 0) = 0 THEN
        p_outcome := 'NOTHING';
        p_detail := 'No run of it waits to be undone.';
        RETURN;
    END IF;
    CALL omd.begin_module(
        p_module_code,
        p_module_instance_id => p_module_instance_id,
        p_processing_indicator => v_indicator,
        p_instance_array => p_instance_array,
        p_reason => p_detail
    );
    IF v_indicator <> 'P' THEN
        p_outcome := 'REFUSED';
        RETURN;
    END IF;
    CALL omd.module_skip(p_module_instance_id, 'only what it left was undone');
    p_outcome := 'UNDONE';
END
$undo_left$;

COMMENT ON PROCEDURE omd.undo_left IS
'Undoes what failed runs of the Module p_module_code have left, without running it: begins, rolls '
'back and skips it, in one transaction and with the rights of the caller. Returns p_outcome: '
'UNDONE, with p_module_instance_id (the run that did it) and p_instance_array (the runs that were '
'undone); NOTHING to undo; REFUSED by the begin, for the reason p_detail; ELSEWHERE: its target '
'is not in this database, and p_detail says who performs the rollback. Errors: OM002, OM003, '
'OM004, OM005, OM009, OM011, OM013, OM014, OM100, OM101, OM112: the rollback does not undo '
'everything, OM201, OM202, OM205. Locks: the Module row, the target rows. Call again when the '
'answer was lost. May be NULL: p_module_instance_id, p_instance_array, p_detail.';
GRANT EXECUTE ON PROCEDURE omd.undo_left TO omd_runner;
