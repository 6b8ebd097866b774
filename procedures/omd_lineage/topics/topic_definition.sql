-- The function is SECURITY DEFINER, as omd.module_definition is, so that a driver needs no right on
-- the tables.

CREATE OR REPLACE FUNCTION omd_lineage.topic_definition(
    p_topic text
)
RETURNS TABLE (
    topic text,
    module_code text,
    processor text,
    engine text,
    transforms text[],
    before_sql text[],
    after_sql text[],
    base_table text,
    pos_column text,
    id_column text,
    tables text[],
    source_code text,
    block_view text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $topic_definition$
DECLARE
    v_topic_id integer := omd_lineage._require_topic(p_topic);
BEGIN
    RETURN QUERY
    SELECT
        t.topic, m.module_code, t.processor, t.engine, t.transforms, t.before_sql, t.after_sql,
        b.table_code, b.pos_column, b.id_column,
        ARRAY(
            SELECT DISTINCT d.table_code FROM omd_lineage.dependency AS d
            WHERE d.topic_id = t.topic_id AND d.table_code <> b.table_code
            ORDER BY d.table_code
        ),
        s.source_code,
        CASE WHEN s.source_code IS NOT NULL THEN omd.block_view(b.table_code) END
    FROM omd_lineage.topic AS t
    INNER JOIN omd_lineage.base_table AS b USING (topic_id)
    LEFT JOIN omd.module_target AS m USING (module_id)
    CROSS JOIN LATERAL omd_lineage._block_source(t.topic_id) AS s (source_code)
    WHERE t.topic_id = v_topic_id;
END
$topic_definition$;

COMMENT ON FUNCTION omd_lineage.topic_definition IS
'For the driver: '
'One row: how the topic p_topic is made, and of which tables. base_table is read by blocks '
'(pos_column, id_column); tables are its other dependencies. source_code: the source whose '
'changes are its blocks, and block_view the view that has the rows of one; NULL: its blocks are '
'rows of base_table. Errors: OM005: p_topic is NULL; OM015: it is not registered; those of the '
'room of base_table, where it keeps no changes. Locks: none. May be NULL: module_code, processor, '
'base_table, source_code, block_view.';
GRANT EXECUTE ON FUNCTION omd_lineage.topic_definition TO omd_reader;
