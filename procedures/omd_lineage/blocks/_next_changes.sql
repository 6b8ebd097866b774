-- Whole changes, in the order of their commits. What else the topic depends on bounds them by the
-- clock; another interface is joined as it is.

CREATE OR REPLACE FUNCTION omd_lineage._next_changes(
    p_topic_id integer,
    p_start_pos timestamptz,
    p_start_id bigint,
    p_upto timestamptz,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_key_count bigint,
    OUT p_is_full boolean,
    OUT p_min_pos timestamptz,
    OUT p_detail text
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_changes$
DECLARE
    v_topic record;
BEGIN
    SELECT
        b.table_code,
        s.source_code,
        s.is_closed,
        CASE t.processor WHEN 'RELOAD' THEN 9223372036854775807 ELSE t.maxstep END AS maxstep,
        ARRAY(
            SELECT d.table_code
            FROM omd_lineage.dependency AS d
            INNER JOIN omd.source_position AS other USING (table_code)
            WHERE d.topic_id = p_topic_id AND other.source_code = s.source_code
        ) AS tables
    INTO v_topic
    FROM omd_lineage.topic AS t
    INNER JOIN omd_lineage.base_table AS b USING (topic_id)
    INNER JOIN omd.source_position AS s
        ON b.table_code = s.table_code AND s.source_kind_code = 'FACTS'
    WHERE t.topic_id = p_topic_id;
    p_is_full := FALSE;
    IF v_topic.is_closed THEN
        p_detail := format('rows of %s are being taken back', v_topic.table_code);
        RETURN;
    END IF;
    SELECT b.p_end_pos, b.p_end_id, b.p_key_count, b.p_is_full, b.p_min_pos
    INTO p_end_pos, p_end_id, p_key_count, p_is_full, p_min_pos
    FROM omd.plan_block(
        v_topic.source_code, v_topic.tables, p_start_pos, p_start_id, p_upto, v_topic.maxstep
    ) AS b;
    -- Older rows than the changes may be in a block from the beginning.
    IF p_start_pos = '-infinity' AND p_end_pos IS NOT NULL THEN
        p_key_count := greatest(p_key_count, 1);
    ELSIF p_end_pos IS NULL THEN
        p_detail := format('nothing new in %s', v_topic.table_code);
    ELSIF p_key_count = 0 THEN
        p_detail := format('the changes up to %s touched no key of it', p_end_id);
    END IF;
END
$next_changes$;

COMMENT ON FUNCTION omd_lineage._next_changes IS
'Returns the block of changes behind p_start_pos and p_start_id that the topic p_topic_id, whose '
'base table is a view of facts, takes next, not beyond p_upto: its end p_end_pos and p_end_id '
'(NULL: there is none), p_key_count, p_is_full and p_min_pos, its first change. p_detail says why '
'there is nothing to read. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._next_changes TO omd_runner, omd_admin;
