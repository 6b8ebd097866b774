-- A time that comes from elsewhere, or was taken when a transaction began that had not written yet,
-- may lie in a window that was read before. Only the clock at the moment of writing is safe.
-- And nobody looks into tables for news: a run of a Module tells them, so others are not heard of.

CREATE OR REPLACE FUNCTION omd_decision._warn_of_window(
    p_definition jsonb
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $warn_of_window$
DECLARE
    v_column CONSTANT text := p_definition #>> '{window,column}';
    v_source text;
BEGIN
    FOR v_source IN
        SELECT DISTINCT l.source
        FROM omd_decision._links(p_definition) AS l
        WHERE v_column IS NOT NULL
            AND p_definition #>> '{start,when}' = 'NEWS'
            AND NOT l.is_buffer
            AND l.source IS NOT NULL
            AND NOT EXISTS (
                SELECT FROM omd.source_position AS p WHERE p.table_code = l.source
            )
        ORDER BY l.source
    LOOP
        RAISE WARNING USING
            MESSAGE = format(
                'nothing makes the stage due when rows come into %s, which no Module writes', v_source
            ),
            DETAIL = 'The stage starts at news, which the runs of the Modules make.',
            HINT = 'Register the Module that writes it and define the stage again, or start it by '
            '{"every": "10 minutes"}.';
    END LOOP;
    IF v_column IS NULL OR v_column = 'omd_insert_datetime' THEN
        RETURN;
    END IF;
    FOR v_source IN
        SELECT DISTINCT l.source
        FROM omd_decision._links(p_definition) AS l
        WHERE NOT l.is_buffer
            AND l.source IS NOT NULL
            AND NOT EXISTS (
                SELECT
                FROM omd.relations_under(omd.target_relation(l.source)) AS r
                LEFT JOIN pg_attribute AS a
                    ON r.relation_id = a.attrelid AND a.attname = v_column
                LEFT JOIN pg_attrdef AS d ON a.attrelid = d.adrelid AND a.attnum = d.adnum
                WHERE r.routine IS NOT NULL
                    OR pg_get_expr(d.adbin, d.adrelid) = 'clock_timestamp()'
            )
        ORDER BY l.source
    LOOP
        RAISE WARNING USING
            MESSAGE = format(
                'the window goes by column "%s" of %s, which is not the time of writing', v_column,
                v_source
            ),
            DETAIL = 'A row that comes with an earlier value than a window has read is never read.',
            HINT = 'Take omd_insert_datetime, or a column with DEFAULT clock_timestamp().';
    END LOOP;
END
$warn_of_window$;

COMMENT ON FUNCTION omd_decision._warn_of_window IS
'Warns where the window of the stage document p_definition goes by a column that neither is the '
'stamp of writing nor has the clock as its default, and where it starts at news of a table that no '
'Module writes. Locks: none.';
