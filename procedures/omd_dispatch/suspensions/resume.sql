-- The first tasks may be claimed from its commit on; of many the rest is released by maintain.

CREATE OR REPLACE PROCEDURE omd_dispatch.resume(
    p_suspension_id bigint,
    INOUT p_resumed bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $resume$
DECLARE
    v_family_code text;
BEGIN
    PERFORM omd.require_read_committed();
    p_suspension_id := omd.require_argument('p_suspension_id', p_suspension_id);
    UPDATE omd_dispatch.task_suspension AS s SET resumed_at = clock_timestamp()
    WHERE s.suspension_id = p_suspension_id AND s.resumed_at IS NULL
    RETURNING s.family_code INTO v_family_code;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM073', jsonb_build_object('suspension_id', p_suspension_id)
        );
    END IF;
    p_resumed := omd_dispatch._release_held_tasks(v_family_code, p_suspension_id, 500);
    PERFORM omd.write_event(
        0, 0, 4, 'RESUMED',
        format('%s: suspension %s of family %s', omd.editor(), p_suspension_id, v_family_code)
    );
END
$resume$;

COMMENT ON PROCEDURE omd_dispatch.resume IS
'Ends the suspension p_suspension_id. Returns p_resumed, how many tasks are free now, of 500 at '
'most; of more the rest is released by the next rounds of maintain. A task that another suspension '
'holds too goes to that one. '
'Errors: OM005: p_suspension_id is NULL; OM014: the isolation level is not read committed; OM073: '
'there is none, or it was resumed. Locks: the suspension and its tasks.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.resume TO omd_admin;
