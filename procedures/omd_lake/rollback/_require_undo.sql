-- A person who confirms a rollback by hand would be believed, and the rows would stay. The driver
-- locks the tables, confirms, and commits what takes the runs back, in one transaction. What it
-- has found gone already has no such commit, so a locked table counts; a dropped one has no rows.

CREATE OR REPLACE FUNCTION omd_lake._require_undo()
RETURNS trigger
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $require_undo$
DECLARE
    v_left text;
BEGIN
    SELECT string_agg(DISTINCT c.table_code, ', ' ORDER BY c.table_code) INTO v_left
    FROM omd_lake.table_commit AS c
    WHERE c.module_instance_id = new.module_instance_id
        AND c.operation IN ('APPEND', 'OVERWRITE', 'HISTORY')
        AND (c.added_rows > 0 OR c.removed_rows > 0)
        AND c.table_code <> ALL(omd_lake._locked_tables())
        AND (
            c.table_format_code <> 'ICEBERG'
            OR cardinality(parse_ident(c.table_code)) <> 2
            OR omd_lake._is_catalogued(c.table_code)
        )
        AND NOT EXISTS (
            SELECT FROM omd_lake.table_commit AS u
            LEFT JOIN omd.described_module_instance AS r
                ON u.module_instance_id = r.module_instance_id
            WHERE u.table_code = c.table_code
                AND u.commit_id > c.commit_id
                AND u.operation = 'UNDO'
                AND (
                    u.module_instance_id = new.rolled_back_by_module_instance_id
                    OR new.module_instance_id = ANY(r.rollback_instance_array)
                )
        );
    IF v_left IS NOT NULL THEN
        PERFORM omd.raise_error(
            'OM112',
            jsonb_build_object(
                'module_code', (
                    SELECT m.module_code FROM omd.described_module AS m
                    WHERE m.module_id = new.module_id
                ),
                'table_code', v_left,
                'module_instance_ids', ARRAY[new.module_instance_id],
                'problem', 'the ledger of commits has no UNDO of what they committed',
                'way_out',
                'Let the driver take them back: end this run, and start the Module again with '
                || 'what loads it. omd.build_rollback_sql has the command.'
            )
        );
    END IF;
    RETURN NULL;
END
$require_undo$;

COMMENT ON FUNCTION omd_lake._require_undo IS
'Trigger: refuses to mark a run as undone that has committed rows to a lake table, unless the '
'ledger has a later UNDO of it, the table is locked by this transaction (open_commit, '
'lock_tables), which commits one, or it is in the catalogue no more. Errors: OM112.';
