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
    v_installation omd.installation;
    v_present record;
    v_kind text;
    v_is_open boolean;
    v_routine omd.server_routine;
BEGIN
    IF p_as IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_as'));
    ELSIF v_as NOT IN ('MOVED', 'COPY') THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object('argument', 'p_as', 'value', p_as, 'expected', 'MOVED or COPY')
        );
    END IF;
    SELECT i.* INTO STRICT v_installation FROM omd.installation AS i FOR UPDATE;
    SELECT s.system_identifier, s.database_oid INTO STRICT v_present
    FROM omd._present_server() AS s;
    v_kind := CASE
        WHEN v_installation.system_identifier <> v_present.system_identifier THEN 'MOVED'
        WHEN v_installation.database_oid <> v_present.database_oid THEN 'COPIED'
    END;
    v_is_open := EXISTS (SELECT FROM omd.server_change AS c WHERE c.confirmed_as IS NULL);
    IF v_as = 'MOVED' AND v_kind IS NULL AND NOT v_is_open THEN
        RETURN;
    END IF;

    IF NOT v_is_open THEN
        INSERT INTO omd.server_change (kind, system_identifier)
        VALUES (coalesce(v_kind, 'COPIED'), v_present.system_identifier);
    END IF;
    UPDATE omd.server_change AS c SET
        confirmed_as = v_as,
        confirmed_at = clock_timestamp(),
        confirmed_by = omd.editor(),
        reason = p_reason
    WHERE c.confirmed_as IS NULL;
    -- The rooms finish first what belongs to the former identity.
    FOR v_routine IN SELECT r.* FROM omd.server_routine AS r ORDER BY r.schema_name LOOP
        EXECUTE format('SELECT %I.%I($1)', v_routine.schema_name, v_routine.routine) USING v_as;
    END LOOP;
    UPDATE omd.installation AS i SET
        installation_id = CASE v_as WHEN 'COPY' THEN gen_random_uuid() ELSE i.installation_id END,
        is_copy = i.is_copy OR v_as = 'COPY',
        system_identifier = CASE
            WHEN i.system_identifier IS NOT NULL THEN v_present.system_identifier
        END,
        database_oid = CASE WHEN i.system_identifier IS NOT NULL THEN v_present.database_oid END;
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
REVOKE ALL ON PROCEDURE omd.confirm_server FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd.confirm_server TO omd_admin;
