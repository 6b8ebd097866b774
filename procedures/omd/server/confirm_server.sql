-- A physical copy looks like a failover, and a copy by TEMPLATE has another OID: only a person can
-- say which of the two goes on. Each room does its part by the routine that it has entered.

CREATE OR REPLACE PROCEDURE omd.confirm_server(
    p_as text,
    p_reason text DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $confirm_server$
DECLARE
    v_as CONSTANT text := upper(p_as);
    v_is_open boolean;
    v_routine text;
BEGIN
    p_as := omd.require_argument('p_as', p_as);
    IF v_as NOT IN ('MOVED', 'COPY') THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object('argument', 'p_as', 'value', p_as, 'expected', 'MOVED or COPY')
        );
    END IF;
    PERFORM FROM omd.installation AS i FOR UPDATE;
    PERFORM omd._settle_server();
    v_is_open := EXISTS (SELECT FROM omd.open_server_change);
    IF v_as = 'MOVED' AND NOT v_is_open THEN
        RETURN;
    END IF;

    IF NOT v_is_open THEN
        INSERT INTO omd.server_change (kind, system_identifier, timeline_id)
        SELECT 'COPIED', i.system_identifier, i.timeline_id FROM omd.installation AS i;
    END IF;
    UPDATE omd.open_server_change AS c SET
        confirmed_as = v_as,
        confirmed_at = clock_timestamp(),
        confirmed_by = omd.editor(),
        reason = p_reason;
    -- The rooms finish first what belongs to the former identity.
    FOR v_routine IN SELECT h.routine FROM omd.room_hooks('HEAR_SERVER') AS h LOOP
        EXECUTE format('SELECT %s($1)', v_routine) USING v_as;
    END LOOP;
    IF v_as = 'COPY' THEN
        UPDATE omd.installation AS i SET installation_id = gen_random_uuid(), is_copy = TRUE;
    END IF;
    PERFORM omd.write_event(
        0, 0, 4, 'SERVER',
        format(
            'the server is confirmed as %s, by %s: %s', v_as, omd.editor(), coalesce(p_reason, '-')
        )
    );
END
$confirm_server$;

COMMENT ON PROCEDURE omd.confirm_server IS
'Says what the database is that was found on another server, or under another OID. p_as: MOVED: it '
'is the installation, and goes on; COPY: the other one goes on, and this one gets an identity of '
'its own, at any time. p_reason: why. Nothing to confirm is no error. Errors: OM005, OM013. Locks: '
'the row of omd.installation; those of the rooms.';
GRANT EXECUTE ON PROCEDURE omd.confirm_server TO omd_admin;
