-- Nobody can tell a restored disk snapshot from a restart, or an older backup from a newer one.

CREATE OR REPLACE PROCEDURE omd.skip_ids(
    p_count bigint DEFAULT 1000000,
    INOUT p_next_module_instance_id bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $skip_ids$
BEGIN
    p_count := omd.require_argument('p_count', p_count);
    IF p_count NOT BETWEEN 1 AND 1000000000000 THEN
        PERFORM omd.raise_error(
            'OM013',
            jsonb_build_object(
                'argument', 'p_count', 'value', p_count, 'expected', 'from 1 to 1000000000000'
            )
        );
    END IF;
    PERFORM FROM omd.installation AS i FOR UPDATE;
    PERFORM omd._settle_server();
    PERFORM omd._skip_numbers(p_count);
    PERFORM omd._skip_counters(p_count);
    PERFORM omd.write_event(
        0, 0, 4, 'SERVER',
        format('%s numbers of each sequence are passed over, by %s', p_count, omd.editor())
    );
    p_next_module_instance_id := 1 + coalesce(
        pg_sequence_last_value('omd.module_instance_module_instance_id_seq'), 0
    );
END
$skip_ids$;

COMMENT ON PROCEDURE omd.skip_ids IS
'Passes over p_count (1 to 1000000000000) numbers of each sequence, and returns '
'p_next_module_instance_id, which the next Module Instance gets. Call it after an older backup or '
'a snapshot of a disk was restored, which nobody can tell from a restart, and before anything is '
'begun. A rollback does not take it back. Errors: OM005, OM013. Locks: the row of '
'omd.installation.';
GRANT EXECUTE ON PROCEDURE omd.skip_ids TO omd_admin;
