-- The task of the schedule omd.purge. What a room could not delete makes the task fail, so that it
-- is tried again and seen. A procedure that commits can't set a search_path, so every name is
-- qualified.

CREATE OR REPLACE PROCEDURE omd_dispatch._purge_rooms(
    p_payload jsonb
)
LANGUAGE plpgsql
SECURITY INVOKER
AS $purge_rooms$
DECLARE
    v_deleted pg_catalog.jsonb;
    v_failed pg_catalog.jsonb;
BEGIN
    CALL omd.purge(
        (p_payload OPERATOR(pg_catalog.->>) 'keep')::pg_catalog.interval,
        p_payload OPERATOR(pg_catalog.->>) 'room',
        v_deleted,
        v_failed
    );
    IF v_failed IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM175', pg_catalog.jsonb_build_object('failed', v_failed::pg_catalog.text)
        );
    END IF;
END
$purge_rooms$;

COMMENT ON PROCEDURE omd_dispatch._purge_rooms IS
'Calls omd.purge with keep and room of the payload of a task. Errors: OM005, OM013, OM018; OM175: '
'a room has failed. Locks: those of omd.purge.';
GRANT EXECUTE ON PROCEDURE omd_dispatch._purge_rooms TO omd_admin;
