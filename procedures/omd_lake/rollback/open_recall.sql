-- The tables are locked before the locks of a recall, as by every commit. What the recall then
-- finds undone is committed behind it, in the same transaction.

CREATE OR REPLACE PROCEDURE omd_lake.open_recall(
    p_instance_array bigint[]
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $open_recall$
DECLARE
    v_opened CONSTANT text[] := coalesce(omd_lake._opened_tables(), '{}');
    v_problem text;
BEGIN
    PERFORM omd.require_read_committed();
    IF p_instance_array IS NULL OR array_position(p_instance_array, NULL) IS NOT NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_instance_array'));
    END IF;
    SELECT format('Module Instance %s does not stand, or has not only written here', i.id)
    INTO v_problem
    FROM unnest(p_instance_array) AS i (id)
    WHERE i.id NOT IN (
        SELECT r.module_instance_id FROM omd_lake.runs_to_recall(p_instance_array) AS r
    )
    LIMIT 1;
    IF NOT FOUND THEN
        SELECT
            format(
                'Module Instance %s wrote %s, which is not open', c.module_instance_id, c.table_code
            )
        INTO v_problem
        FROM omd_lake.table_commit AS c
        WHERE c.module_instance_id = ANY(p_instance_array)
            AND NOT c.table_code = ANY(v_opened)
            AND omd_lake._is_catalogued(c.table_code)
        LIMIT 1;
    END IF;
    IF v_problem IS NOT NULL THEN
        PERFORM omd.raise_error('OM022', jsonb_build_object('problem', v_problem));
    END IF;
    PERFORM omd.note_undone_elsewhere(p_instance_array);
END
$open_recall$;

COMMENT ON PROCEDURE omd_lake.open_recall IS
'For the driver: '
'Says that the transaction of the caller, who has opened the tables (open_commit), takes the rows '
'of the runs p_instance_array back by an UNDO commit per table: a recall in this transaction marks '
'them undone (UNDO), and does not leave them to their Modules (PENDING). Call '
'omd_provenance.recall after it, and then commit_tables, in the same transaction. Errors: OM005, '
'OM014, OM022: a table is not open, or a run has written elsewhere too (runs_to_recall). Locks: '
'none.';
GRANT EXECUTE ON PROCEDURE omd_lake.open_recall TO omd_admin;
