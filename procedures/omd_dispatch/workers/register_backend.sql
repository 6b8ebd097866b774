-- A worker that comes back under its name knows nothing of what it held before: its claims are
-- settled first, as those of a dead backend. In a family that is being changed, maintenance does
-- it: nobody waits for all families to begin.

CREATE OR REPLACE PROCEDURE omd_dispatch.register_backend(
    p_backend_type text,
    p_backend_id text,
    p_ttl interval DEFAULT interval '30 seconds',
    INOUT p_position integer DEFAULT NULL,
    INOUT p_members integer DEFAULT NULL,
    p_slots integer DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_backend$
BEGIN
    PERFORM omd.require_read_committed();
    PERFORM omd_dispatch._require_code('p_backend_type', p_backend_type);
    PERFORM omd.require_name('p_backend_id', p_backend_id);
    IF p_ttl IS NULL OR p_ttl < interval '1 second' OR p_ttl > interval '1 day' THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_ttl',
                'value', coalesce(p_ttl::text, 'NULL'),
                'expected', 'from 1 second to 1 day'
            )
        );
    END IF;
    PERFORM omd.get_ready_for_id();
    PERFORM omd.require_known_server();
    PERFORM omd_dispatch._settle_claims(p_backend_id, NULL);
    INSERT INTO omd_dispatch.backend_registration AS b (
        backend_type, backend_id, registration_time, ttl, first_token, slots
    )
    SELECT
        p_backend_type, p_backend_id, clock_timestamp(), p_ttl,
        CASE WHEN t.is_called THEN t.last_value ELSE 0 END,
        p_slots
    FROM omd_dispatch.claim_token AS t
    ON CONFLICT (backend_id) DO UPDATE SET
        backend_type = excluded.backend_type,
        registration_time = excluded.registration_time,
        ttl = excluded.ttl,
        first_token = excluded.first_token,
        slots = excluded.slots;
    SELECT p.position, p.members INTO p_position, p_members
    FROM omd_dispatch.backend_position(p_backend_type, p_backend_id) AS p;
END
$register_backend$;

COMMENT ON PROCEDURE omd_dispatch.register_backend IS
'For programs: '
'Registers the worker p_backend_id in the group p_backend_type, and returns p_position, its place '
'from 0, and p_members, how many backends the group has. p_ttl: how long it lives without a '
'renewal (30 seconds). p_slots: how many tasks it runs at once. Errors: OM005: type or id is '
'NULL; OM013: an argument is not allowed; OM014: the isolation level is not read committed; '
'OM109: nobody has confirmed this server. Locks: the backend; where the server has changed, the '
'row of omd.installation. Call again when the answer was lost.';
GRANT EXECUTE ON PROCEDURE omd_dispatch.register_backend TO omd_runner;
