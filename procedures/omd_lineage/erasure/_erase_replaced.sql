-- An undo would put the person back. A row of another table may have the same columns, so the table
-- of its step decides.

CREATE OR REPLACE FUNCTION omd_lineage._erase_replaced(
    p_table_code text,
    p_columns jsonb,
    p_keys jsonb,
    p_is_nulled boolean
)
RETURNS TABLE (table_code text, row_count bigint)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $erase_replaced$
DECLARE
    v_step record;
    v_rows bigint;
BEGIN
    table_code := 'omd_lineage.replaced_row';
    row_count := 0;
    FOR v_step IN
        SELECT r.module_instance_id, r.row_columns
        FROM omd_lineage.replacement AS r
        WHERE r.table_code = p_table_code
        ORDER BY r.module_instance_id
    LOOP
        WITH held AS MATERIALIZED (
            SELECT r.ctid AS place, omd_lineage._literal_values(r.content) AS held_values
            FROM omd_lineage.replaced_row AS r
            WHERE r.module_instance_id = v_step.module_instance_id
        ),

        found AS (
            SELECT h.place, h.held_values, array_agg(DISTINCT x.number) AS numbers
            FROM held AS h
            CROSS JOIN jsonb_array_elements(p_keys) AS k (key)
            CROSS JOIN LATERAL (
                SELECT c.attribute, n.number
                FROM jsonb_each_text(p_columns) AS c (name, attribute)
                CROSS JOIN LATERAL array_position(v_step.row_columns, c.name) AS n (number)
                WHERE CASE
                    WHEN jsonb_typeof(k.key -> c.attribute) = 'number'
                        AND h.held_values[n.number] ~ '^-?[0-9]+[.]?[0-9]*$'
                        THEN
                            h.held_values[n.number]::numeric = (k.key ->> c.attribute)::numeric
                    ELSE h.held_values[n.number] = k.key ->> c.attribute
                END
            ) AS x
            GROUP BY h.place, h.held_values, k.key
            -- Each attribute of the key is in one of its columns.
            HAVING count(DISTINCT x.attribute) = (
                SELECT count(DISTINCT c.attribute)
                FROM jsonb_each_text(p_columns) AS c (name, attribute)
            )
        ),

        nulled AS (
            UPDATE omd_lineage.replaced_row AS r SET content = (
                SELECT
                    '(' || string_agg(
                        CASE
                            WHEN v.item IS NULL OR v.n = ANY(f.numbers) THEN ''
                            ELSE '"' || replace(replace(v.item, '\', '\\'), '"', '""') || '"'
                        END,
                        ',' ORDER BY v.n
                    ) || ')'
                FROM unnest(f.held_values) WITH ORDINALITY AS v (item, n)
            )
            FROM (
                SELECT g.place, g.held_values, array_agg(u.number) AS numbers
                FROM found AS g
                CROSS JOIN unnest(g.numbers) AS u (number)
                GROUP BY g.place, g.held_values
            ) AS f
            WHERE r.ctid = f.place AND p_is_nulled
            RETURNING 1
        ),

        gone AS (
            DELETE FROM omd_lineage.replaced_row AS r
            USING (SELECT DISTINCT g.place FROM found AS g) AS f
            WHERE r.ctid = f.place AND NOT p_is_nulled
            RETURNING 1
        )

        SELECT (SELECT count(*) FROM nulled) + (SELECT count(*) FROM gone) INTO v_rows;
        row_count := row_count + v_rows;
    END LOOP;
    RETURN NEXT;
END
$erase_replaced$;

COMMENT ON FUNCTION omd_lineage._erase_replaced IS
'Deletes the rows of the table p_table_code that steps have replaced and that have one '
'of p_keys in p_columns, {column: attribute of the key}; p_is_nulled: empties these columns. '
'Returns how many. Locks: these rows.';
