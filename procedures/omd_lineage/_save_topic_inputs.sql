-- A step reads the block of its base table, and whatever else its transforms read as it is. A
-- reload reads all, and replaces all. Of a table of the lake it reads the runs in its block, which
-- the begin records. Transforms that are no views here are functions of a job, of which nobody
-- knows more than what the topic depends on.

CREATE OR REPLACE FUNCTION omd_lineage._save_topic_inputs(
    p_topic_id integer
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $save_topic_inputs$
DECLARE
    v_topic omd_lineage.topic;
    v_base record;
    v_tables text[];
BEGIN
    SELECT t.* INTO v_topic FROM omd_lineage.topic AS t WHERE t.topic_id = p_topic_id;
    IF v_topic.processor IS NULL OR v_topic.module_id IS NULL THEN
        RETURN;
    END IF;
    SELECT
        b.table_code,
        nullif(b.pos_column, '') AS pos_column,
        nullif(b.id_column, '') AS id_column,
        b.is_lake,
        b.source_kind_code,
        CASE
            WHEN v_topic.processor = 'RELOAD' THEN 'ALL'
            WHEN b.is_lake THEN 'RUNS'
            ELSE 'WINDOW'
        END AS read_kind
    INTO v_base
    FROM omd_lineage.base_table AS b
    WHERE b.topic_id = p_topic_id;
    v_tables := ARRAY(
        SELECT DISTINCT u.table_code
        FROM (
            SELECT d.table_code FROM omd_lineage.dependency AS d
            WHERE d.topic_id = p_topic_id AND d.ordinal > 1
            UNION
            SELECT w.name FROM unnest(v_topic.transforms) AS w (name)
            WHERE omd.spell_table(w.name) IS NOT NULL
                AND omd.target_relation(w.name) IS NOT NULL
        ) AS n (table_code)
        CROSS JOIN LATERAL unnest(omd.base_tables(n.table_code)) AS u (table_code)
        WHERE NOT u.table_code = ANY(omd.base_tables(v_base.table_code))
        ORDER BY u.table_code
    );
    PERFORM omd.save_inputs(
        v_topic.module_id,
        'ROOM',
        jsonb_build_array(
            jsonb_strip_nulls(
                jsonb_build_object(
                    'table', v_base.table_code,
                    'kind', v_base.read_kind,
                    'pos', CASE
                        WHEN v_base.read_kind = 'WINDOW'
                            AND v_base.source_kind_code IS DISTINCT FROM 'FACTS'
                            THEN coalesce(v_base.pos_column, '')
                    END,
                    'id', CASE
                        WHEN v_base.read_kind = 'WINDOW'
                            AND v_base.source_kind_code IS DISTINCT FROM 'FACTS'
                            THEN v_base.id_column
                    END
                )
            )
        ) || coalesce(
            (
                SELECT
                    jsonb_agg(
                        jsonb_build_object('table', t.table_code, 'kind', 'ALL')
                        ORDER BY t.table_code
                    )
                FROM unnest(v_tables) AS t (table_code)
            ),
            '[]'
        ),
        v_topic.processor = 'RELOAD'
    );
END
$save_topic_inputs$;

COMMENT ON FUNCTION omd_lineage._save_topic_inputs IS
'Tells process control what the steps of the topic p_topic_id read. Locks: the Module, where '
'something is new.';
REVOKE ALL ON FUNCTION omd_lineage._save_topic_inputs FROM PUBLIC;
