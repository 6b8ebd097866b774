-- Each table is read once for all runs that are asked for, and not once per run, with the rights of
-- whoever asks: a look at a table of a user executes what its owner has said of it.

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
AS $positions_of_runs$
DECLARE
    v_look record;
    v_entries jsonb := '[]'::jsonb;
BEGIN
    FOR v_look IN
        SELECT l.* FROM omd_provenance._looks_of_runs(p_instance_array) AS l
    LOOP
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
                v_look.id_column, v_look.pos_bounds, v_look.id_bounds, p_known
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
GRANT EXECUTE ON FUNCTION omd_provenance._positions_of_runs TO omd_reader, omd_data_reader;
