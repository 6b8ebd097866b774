-- The ledger knows which tables hold the rows of runs that others read by windows, and what parts
-- these windows. It reads no table of a user, so it has the rights of the owner.

CREATE OR REPLACE FUNCTION omd_provenance._looks_of_runs(
    p_instance_array bigint[]
)
RETURNS TABLE (
    table_code text,
    pos_column text,
    id_column text,
    stamp_columns text[],
    instance_array bigint[],
    pos_bounds timestamptz[],
    id_bounds bigint[]
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $looks_of_runs$
DECLARE
    v_look record;
BEGIN
    FOR v_look IN
        WITH written AS MATERIALIZED (
            SELECT
                array_agg(r.module_instance_id) AS instance_array,
                min(r.module_instance_id) AS first_id,
                ARRAY[m.insert_instance_column, m.update_instance_column] AS stamp_columns,
                omd_provenance._written_tables(max(r.module_instance_id)) AS tables
            FROM omd.ledger_run AS r
            INNER JOIN omd.ledger_module AS m ON r.module_id = m.module_id
            WHERE r.module_instance_id = ANY(p_instance_array)
                AND r.execution_status_code IN ('S', 'E', 'F')
                AND r.rolled_back_by_module_instance_id IS NULL
            GROUP BY m.module_id, m.insert_instance_column, m.update_instance_column
        )

        SELECT
            i.table_code,
            i.pos_column,
            i.id_column,
            w.stamp_columns,
            w.instance_array,
            w.first_id,
            array_agg(DISTINCT i.module_id) AS module_array
        FROM written AS w
        INNER JOIN omd.ledger_input AS i ON i.table_code = ANY(w.tables)
        WHERE i.read_kind = 'WINDOW'
            AND i.pos_column IS NOT NULL
            AND i.declared_code = i.table_code
        GROUP BY i.table_code, i.pos_column, i.id_column, w.stamp_columns, w.instance_array,
            w.first_id
    LOOP
        table_code := v_look.table_code;
        pos_column := v_look.pos_column;
        id_column := v_look.id_column;
        stamp_columns := v_look.stamp_columns;
        instance_array := v_look.instance_array;
        WITH bound AS MATERIALIZED (
            SELECT b.*
            FROM unnest(v_look.module_array) AS m (module_id)
            LEFT JOIN LATERAL (
                SELECT before.module_instance_id
                FROM omd.ledger_run AS before
                WHERE before.module_id >= m.module_id
                    AND before.module_id <= m.module_id
                    AND before.module_instance_id < v_look.first_id
                    AND before.execution_status_code IN ('S', 'E', 'F')
                ORDER BY before.module_id DESC, before.module_instance_id DESC
                LIMIT 1
            ) AS f ON TRUE
            INNER JOIN omd.ledger_window AS w
                ON m.module_id = w.module_id
                    AND w.module_instance_id >= coalesce(f.module_instance_id, v_look.first_id)
            CROSS JOIN LATERAL omd_provenance._window_bounds(w) AS b
        )

        SELECT
            ARRAY(
                SELECT b.start_pos FROM bound AS b
                UNION
                SELECT b.end_pos FROM bound AS b
                ORDER BY 1
            ),
            ARRAY(
                SELECT b.start_id FROM bound AS b
                UNION
                SELECT b.end_id FROM bound AS b
                ORDER BY 1
            )
        INTO pos_bounds, id_bounds;
        IF pos_bounds <> '{}' THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END
$looks_of_runs$;

COMMENT ON FUNCTION omd_provenance._looks_of_runs IS
'Returns the tables that hold rows of the runs p_instance_array and that others read by windows: '
'the columns of positions, those of stamps, the runs, and the bounds of the windows in order. Runs '
'that are undone are left out. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._looks_of_runs TO omd_reader, omd_data_reader;
