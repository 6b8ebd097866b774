-- Who may purge may not write to the event log.

CREATE OR REPLACE FUNCTION omd._record_purge(
    p_before timestamptz,
    p_module_instances bigint,
    p_batch_instances bigint,
    p_events bigint
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $record_purge$
BEGIN
    PERFORM omd.write_event(
        0,
        0,
        4,
        'PURGE',
        format(
            'purge of what is older than %s by %s: %s',
            p_before,
            omd.editor(),
            CASE
                WHEN p_events IS NULL THEN 'begins'
                ELSE
                    format(
                        'deleted %s Module Instances, %s Batch Instances, %s events',
                        p_module_instances, p_batch_instances, p_events
                    )
            END
        )
    );
END
$record_purge$;

COMMENT ON FUNCTION omd._record_purge IS
'Writes the event of a purge of what is older than p_before: who does it, and how many rows it '
'deleted; that it begins where p_events is NULL. Locks: none.';
REVOKE ALL ON FUNCTION omd._record_purge FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._record_purge TO omd_admin;
