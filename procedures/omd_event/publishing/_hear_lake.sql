-- A commit may be of several tables, so the rows of a statement go at once.

CREATE OR REPLACE FUNCTION omd_event._hear_lake()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_lake$
BEGIN
    INSERT INTO omd_event.outbox (
        event_type, subject_type, subject_id, code, detail
    )
    SELECT
        'LAKE_COMMITTED',
        'LAKE_COMMIT',
        n.commit_id,
        n.table_code,
        jsonb_strip_nulls(
            jsonb_build_object(
                'module_instance_id', nullif(n.module_instance_id, 0),
                'operation', n.operation,
                'rows', n.added_rows
            )
        )
    FROM new_rows AS n
    ORDER BY n.commit_id;
    RETURN NULL;
END
$hear_lake$;

COMMENT ON FUNCTION omd_event._hear_lake IS
'Trigger: writes the commits of lake tables to the outbox. Locks: none.';
