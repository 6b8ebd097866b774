-- A step reads the block of its base table, and whatever else its transforms read as it is: also
-- that table, where a view reads it beside the block, or is the second one of a recompute. A
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
    v_block_view text;
    v_cut_by CONSTANT text[] := ARRAY[
        'omd_lineage.in_block', 'omd_lineage.id_in_block', 'omd_lineage.block_end'
    ];
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
    IF v_base.source_kind_code = 'FACTS' THEN
        BEGIN
            v_block_view := omd.block_view(v_base.table_code);
        EXCEPTION WHEN SQLSTATE 'OM254' THEN
            -- Steps of an active topic are refused; an inactive one takes none.
            v_block_view := NULL;
        END;
    END IF;
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
                SELECT jsonb_agg(r.item ORDER BY r.item)
                FROM (
                    SELECT jsonb_build_object('table', d.table_code, 'kind', 'ALL') AS item
                    FROM omd_lineage.dependency AS d
                    WHERE d.topic_id = p_topic_id
                        AND d.ordinal > 1
                        AND d.table_code <> v_base.table_code
                    UNION
                    SELECT
                        jsonb_build_object('table', w.name, 'kind', 'ALL')
                        || CASE
                            WHEN v_base.read_kind = 'WINDOW'
                                AND (w.ordinal = 1 OR v_topic.recompute_key IS NULL)
                                THEN jsonb_build_object(
                                    'cut_table', v_base.table_code,
                                    'cut_view', v_block_view,
                                    'cut_by', v_cut_by
                                )
                            ELSE '{}'
                        END
                    FROM unnest(v_topic.transforms) WITH ORDINALITY AS w (name, ordinal)
                    WHERE omd.spell_table(w.name) IS NOT NULL
                        AND omd.target_relation(w.name) IS NOT NULL
                ) AS r
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
