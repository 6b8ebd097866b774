-- Where many runs are asked for, each table is read once for all of them, and not once per run.

CREATE OR REPLACE FUNCTION omd_provenance._positions_of_runs(
    p_instance_array bigint[],
    p_known jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $positions_of_runs$
DECLARE
    v_look record;
    v_pos_bounds timestamptz[];
    v_id_bounds bigint[];
    v_entries jsonb := '[]'::jsonb;
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
        INTO v_pos_bounds, v_id_bounds;
        CONTINUE WHEN v_pos_bounds = '{}';
        v_entries := v_entries || (
            SELECT jsonb_agg(
                jsonb_build_object(
                    'run', i.id,
                    'table_code', v_look.table_code,
                    'pos_column', v_look.pos_column,
                    'id_column', v_look.id_column,
                    'relation', omd.target_relation(v_look.table_code),
                    'row_count', p.row_count,
                    'stamp_count', p.stamp_count,
                    'positions', p.positions
                )
            )
            FROM unnest(v_look.instance_array) AS i (id)
            LEFT JOIN omd_provenance._row_positions(
                v_look.instance_array, v_look.table_code, v_look.stamp_columns, v_look.pos_column,
                v_look.id_column, v_pos_bounds, v_id_bounds, p_known
            ) AS p ON i.id = p.module_instance_id
        );
    END LOOP;
    RETURN (
        SELECT coalesce(jsonb_object_agg(e.run, e.entries), '{}')
        FROM (
            SELECT x ->> 'run' AS run, jsonb_agg(x) AS entries
            FROM jsonb_array_elements(v_entries) AS x
            GROUP BY 1
        ) AS e
    );
END
$positions_of_runs$;

COMMENT ON FUNCTION omd_provenance._positions_of_runs IS
'Returns where the rows of the runs p_instance_array are in the tables that others read by '
'windows, as a JSON object: per run an array of objects of table_code, pos_column, id_column, '
'relation (the oid of the table) and what omd_provenance._row_positions answers, which is NULL '
'where nobody knows. Runs that are undone are left out. p_known: as there. Locks: none but those '
'of reading.';
REVOKE ALL ON FUNCTION omd_provenance._positions_of_runs FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_provenance._positions_of_runs TO omd_reader;
