-- Who may purge may not write to the event log.

CREATE OR REPLACE FUNCTION omd._note_purge(
    p_keep interval,
    p_before timestamptz,
    p_deleted jsonb,
    p_failed jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_purge$
DECLARE
    v_deleted text;
    v_failed text;
BEGIN
    SELECT string_agg(format('%s of %s', d.value, d.key), ', ' ORDER BY d.key) INTO v_deleted
    FROM jsonb_each_text(p_deleted) AS d
    WHERE d.value <> '0';
    SELECT string_agg(format('; %s failed: %s', f.key, f.value), '' ORDER BY f.key) INTO v_failed
    FROM jsonb_each_text(p_failed) AS f;
    IF p_keep IS NULL AND v_deleted IS NULL AND v_failed IS NULL THEN
        RETURN; -- what nobody needs leaves no trace where there was none of it
    END IF;
    PERFORM omd.write_event(
        0,
        0,
        4,
        'PURGE',
        format(
            'purge of what %s by %s: %s',
            CASE
                WHEN p_keep IS NULL THEN 'needs no keep' ELSE format('is older than %s', p_before)
            END,
            omd.editor(),
            CASE
                WHEN p_deleted IS NULL THEN 'begins'
                ELSE format('deleted %s%s', coalesce(v_deleted, 'nothing'), v_failed)
            END
        )
    );
END
$note_purge$;

COMMENT ON FUNCTION omd._note_purge IS
'Writes the event of a purge: who does it, how many rows it deleted by table, and which rooms have '
'failed; that it begins where p_deleted is NULL. Where p_keep is NULL and nothing has gone, it '
'writes none. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._note_purge TO omd_admin;
