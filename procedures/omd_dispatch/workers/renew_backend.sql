-- A renewal that comes too late is refused, since the tasks of the backend may have gone to others.

CREATE OR REPLACE PROCEDURE omd_dispatch.renew_backend(
    p_backend_id text,
    INOUT p_position integer DEFAULT NULL,
    INOUT p_members integer DEFAULT NULL,
    INOUT p_cancel bigint[] DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $renew_backend$
DECLARE
    v_group text;
    v_family_code text;
    v_ids bigint[];
BEGIN
    p_backend_id := omd.require_argument('p_backend_id', p_backend_id);
    UPDATE omd_dispatch.backend_registration AS b SET registration_time = clock_timestamp()
    WHERE b.backend_id = p_backend_id
        AND omd_dispatch._lives(b.registration_time, b.ttl, clock_timestamp())
    RETURNING b.backend_type INTO v_group;
    IF NOT FOUND THEN
        PERFORM omd.raise_error('OM172', jsonb_build_object('backend_id', left(p_backend_id, 60)));
    END IF;
    SELECT p.position, p.members INTO p_position, p_members
    FROM omd_dispatch.backend_position(v_group, p_backend_id) AS p;
    p_cancel := '{}';
    FOR v_family_code IN
        SELECT DISTINCT t.family_code FROM omd_dispatch.task_conf_type_desc AS t
    LOOP
        -- It would be declared dead while it waits for a change.
        CONTINUE WHEN NOT omd_dispatch._try_hold_model(v_family_code);
        EXECUTE format(
            'SELECT coalesce(array_agg(task_id ORDER BY task_id), ''{}'') FROM %s'
            ' WHERE status = ''CLAIMED'' AND claimed_by = $1 AND cancel_requested',
            omd_dispatch._model_table(v_family_code)
        )
        INTO v_ids
        USING p_backend_id;
        p_cancel := p_cancel || v_ids;
    END LOOP;
END
$renew_backend$;

COMMENT ON PROCEDURE omd_dispatch.renew_backend IS
'For programs: '
'Renews the registration of the worker p_backend_id; call it every third of its TTL. Returns '
'p_position, its place from 0, p_members, how many backends its group has, and p_cancel, the tasks '
'that it has and is asked to end. Errors: OM005: p_backend_id is NULL; OM172: it does not live any'
' more. Locks: the backend. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.renew_backend TO omd_runner;
