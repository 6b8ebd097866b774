-- omd.tell_undo calls it by omd.room_hook. A topic reads what it depends on and what its views
-- read. Where its windows are positions in the table, as transaction times of facts are, what was
-- read is known; else it is what its runs have read since.

CREATE OR REPLACE FUNCTION omd_lineage.hear_undo(
    p_table_code text,
    p_from timestamptz,
    p_module_instance_id bigint
)
RETURNS TABLE (
    module_id integer,
    reader text,
    source_code text,
    is_whole boolean,
    has_positions boolean,
    way_out text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hear_undo$
DECLARE
    v_over CONSTANT text[] := omd.relations_over(p_table_code);
BEGIN
    RETURN QUERY
    WITH found AS (
        SELECT
            t.module_id,
            t.topic,
            coalesce(d.table_code, b.table_code) AS source_code,
            t.processor = 'RELOAD' AS is_whole,
            d.ordinal IS NOT DISTINCT FROM 1
            AND (omd.readable_until(b.table_code, b.pos_column)).p_until IS NOT NULL
                AS has_positions,
            d.source
        FROM omd_lineage.topic AS t
        INNER JOIN omd_lineage.base_table AS b USING (topic_id)
        LEFT JOIN LATERAL (
            SELECT d.ordinal, d.table_code, s.topic AS source
            FROM omd_lineage.dependency AS d
            LEFT JOIN omd_lineage.topic AS s
                ON d.source_topic_id = s.topic_id AND s.processor IS NULL
            WHERE d.topic_id = t.topic_id AND d.table_code = ANY(v_over)
            ORDER BY d.ordinal, s.topic
            LIMIT 1
        ) AS d ON TRUE
        WHERE t.processor IS NOT NULL AND (d.ordinal IS NOT NULL OR t.transforms && v_over)
    )

    SELECT
        f.module_id,
        f.topic,
        f.source_code,
        f.is_whole,
        f.has_positions,
        CASE
            WHEN f.has_positions
                THEN format(
                    'CALL omd_lineage.restate(%L, %L, ''infinity'', p_cascade => TRUE,'
                    ' p_including_from => TRUE);',
                    coalesce(f.source, f.topic), coalesce(p_from, '-infinity')
                )
            ELSE format(
                'CALL omd_lineage.restate(%L, %L, ''infinity'', p_cascade => TRUE);',
                f.topic, coalesce(w.start_value, '-infinity')
            )
        END
    FROM found AS f
    CROSS JOIN LATERAL (
        SELECT min(w.start_value) AS start_value
        FROM omd.succeeded_windows(
            f.module_id, '-infinity', -9223372036854775808, 'infinity', 9223372036854775807
        ) AS w
        WHERE w.module_instance_id > p_module_instance_id
    ) AS w
    WHERE omd.first_read(
        f.module_id, p_module_instance_id, 9223372036854775807, p_from, f.has_positions
    ) IS NOT NULL;
END
$hear_undo$;

COMMENT ON FUNCTION omd_lineage.hear_undo IS
'For rooms: Returns the topics that have read rows of the table p_table_code from the position '
'p_from on after the Module Instance p_module_instance_id: the Module and the name of each '
'(reader), by which table it reads them, whether each run replaces all of its rows, whether its '
'windows are positions of these rows, and the call that makes its rows again. Locks: none.';
