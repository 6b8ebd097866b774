-- The table itself is not looked at here: whoever may read it says where the rows are. A window has
-- read a run when it holds the position of one of its rows, or overlaps the block of the run
-- itself: a corrected run may put new rows anywhere in its block. Standing windows of a Module lie
-- one behind the other, so the walk ends at the first one behind the last position. A change that
-- was undone has not been read by a block that holds the undo too. A recall knew where the rows
-- were, and has taken each window along that had read them, so what stands after it has not.

CREATE OR REPLACE FUNCTION omd_provenance._window_readers(
    p_run omd.ledger_run,
    p_undone_by bigint,
    p_upto bigint,
    p_all boolean,
    p_module_array integer[],
    p_table_code text,
    p_declared_code text,
    p_pos_column text,
    p_id_column text,
    p_after_array bigint[],
    p_upto_array bigint[],
    p_positions jsonb
)
RETURNS TABLE (
    module_instance_id bigint,
    is_exact boolean,
    stands boolean,
    execution_status_code text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $window_readers$
DECLARE
    v_change record;
    v_block omd.ledger_window;
    v_module omd.ledger_module;
    v_windows omd.ledger_window[];
    v_entry jsonb;
    v_held bigint[];
    v_own bigint[];
    v_is_known boolean := FALSE;
    v_is_recalled CONSTANT boolean := EXISTS (
        SELECT FROM omd.ledger_run AS r
        INNER JOIN omd.ledger_module AS m ON r.module_id = m.module_id
        WHERE r.module_instance_id = p_undone_by AND m.module_code = 'provenance.recall'
    );
BEGIN
    IF v_is_recalled AND NOT p_all THEN
        RETURN;
    END IF;
    IF p_pos_column IS NULL THEN
        FOR v_change IN
            SELECT c.* FROM omd_facts.changes_of_runs(ARRAY[(p_run).module_instance_id]) AS c
            ORDER BY c.change_id
        LOOP
            v_is_known := TRUE;
            v_held := v_held || ARRAY(
                SELECT w.module_instance_id
                FROM unnest(p_module_array) AS m (module_id)
                CROSS JOIN LATERAL omd_provenance._windows_over(
                    m.module_id, v_change.source_code, v_change.change_id, p_all
                ) AS w
                WHERE coalesce(w.end_id < v_change.undone_by_change_id, TRUE)
            );
        END LOOP;
        IF v_is_known THEN
            RETURN QUERY
            SELECT r.module_instance_id, TRUE, omd_provenance._stands(r),
                r.execution_status_code::text
            FROM omd.ledger_run AS r
            INNER JOIN unnest(p_module_array, p_after_array, p_upto_array)
                AS m (module_id, after_id, upto_id)
                ON r.module_id = m.module_id
                    AND r.module_instance_id > m.after_id
                    AND r.module_instance_id <= m.upto_id
            WHERE r.module_instance_id = ANY(v_held)
                AND r.module_instance_id <= p_upto
                AND r.execution_status_code IN ('S', 'E', 'F')
                AND (p_all OR omd_provenance._stands(r))
                AND NOT (v_is_recalled AND omd_provenance._stands(r));
            RETURN;
        END IF;
    END IF;

    -- The windows that may have seen it.
    v_windows := ARRAY(
        SELECT w
        FROM unnest(p_module_array, p_after_array, p_upto_array)
            AS m (module_id, after_id, upto_id)
        CROSS JOIN LATERAL omd_provenance._windows_after(
            p_run, p_undone_by, p_upto, p_all, m.module_id, m.after_id, m.upto_id
        ) AS w
    );
    IF v_windows = '{}' THEN
        RETURN;
    END IF;
    SELECT m.* INTO v_module FROM omd.ledger_module AS m WHERE m.module_id = (p_run).module_id;
    IF p_pos_column IS NOT NULL AND p_undone_by IS NULL AND p_declared_code = p_table_code THEN
        SELECT e.entry INTO v_entry
        FROM jsonb_array_elements(p_positions) AS e (entry)
        WHERE e.entry ->> 'table_code' = p_table_code
            AND e.entry ->> 'pos_column' = p_pos_column
            AND e.entry ->> 'id_column' IS NOT DISTINCT FROM p_id_column;
        -- Where rows are gone by other hands, nobody knows where they were.
        IF (v_entry ->> 'row_count')::bigint >= (p_run).rows_inserted THEN
            v_held := ARRAY(
                SELECT w.module_instance_id
                FROM unnest(v_windows) AS w
                CROSS JOIN LATERAL omd_provenance._window_bounds(w) AS b
                WHERE EXISTS (
                    SELECT FROM jsonb_to_recordset(v_entry -> 'positions')
                        AS p (pos timestamptz, id bigint)
                    WHERE (p.pos, p.id) > (b.start_pos, b.start_id)
                        AND (p.pos, p.id) <= (b.end_pos, b.end_id)
                )
            );
        END IF;
    END IF;
    IF p_pos_column IS NOT NULL
        AND v_module.module_kind_code = 'TOPIC'
        -- Rows of a step that are undone, or replaced by a later one, were in its block.
        AND (
            v_held IS NOT NULL
            OR p_undone_by IS NOT NULL
            OR omd_lineage.merges_rows((p_run).module_id)
        )
    THEN
        SELECT sc.* INTO v_block
        FROM omd.ledger_window AS sc
        WHERE sc.module_instance_id = (p_run).module_instance_id;
        IF FOUND THEN
            v_own := ARRAY(
                SELECT w.module_instance_id
                FROM unnest(v_windows) AS w
                CROSS JOIN LATERAL omd_provenance._window_bounds(w) AS b
                WHERE (b.end_pos, b.end_id) > (
                    coalesce(v_block.start_value, '-infinity'),
                    coalesce(v_block.start_id, -9223372036854775808)
                ) AND (b.start_pos, b.start_id) < (
                    coalesce(v_block.end_value, 'infinity'),
                    coalesce(v_block.end_id, 9223372036854775807)
                )
            );
        END IF;
    END IF;
    v_is_known := v_held IS NOT NULL OR v_own IS NOT NULL;
    RETURN QUERY
    SELECT
        r.module_instance_id,
        v_is_known AND (
            p_undone_by IS NULL OR (
                r.newest_instance_id < p_undone_by
                AND p_undone_by <> (p_run).module_instance_id
            )
        ),
        omd_provenance._stands(r),
        r.execution_status_code::text
    FROM omd.ledger_run AS r
    WHERE r.module_instance_id = ANY(
        CASE
            WHEN v_is_known THEN v_held || v_own
            ELSE ARRAY(SELECT w.module_instance_id FROM unnest(v_windows) AS w)
        END
    ) AND NOT (v_is_recalled AND omd_provenance._stands(r));
END
$window_readers$;

COMMENT ON FUNCTION omd_provenance._window_readers IS
'Returns the runs of the Modules p_module_array whose windows over p_table_code have read the '
'run p_run. p_undone_by: the run that undid it; p_upto: the newest run that may have read it '
'before; p_all: also those that do not stand; p_declared_code: the table or view that the window '
'cuts, by p_pos_column and p_id_column, NULL: by changes of facts; p_after_array, p_upto_array: '
'the runs for which this is declared; p_positions: where its rows are, as '
'omd_provenance._positions_of_runs answers it for this run, or NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._window_readers TO omd_reader;
