-- What a step has to know before it processes its block, in one statement: each costs as much as
-- some rows of a block. It reads no view of OMD, which would stay locked as long as the transforms
-- take. The newest version of the offset comes first when it is read backwards, as omd.heartbeat
-- says; the setting is here and not with the caller, who runs the SQL of users.

CREATE OR REPLACE FUNCTION omd_lineage._step_to_process(
    p_topic text,
    p_module_instance_id bigint,
    p_plan_number bigint,
    OUT p_topic_id integer,
    OUT p_name text,
    OUT p_table_code text,
    OUT p_processor text,
    OUT p_transforms text[],
    OUT p_merge_key text[],
    OUT p_recompute_key text[],
    OUT p_before_sql text[],
    OUT p_after_sql text[],
    OUT p_reload_method text,
    OUT p_insert_column text,
    OUT p_base_table text,
    OUT p_source_code text,
    OUT p_rows bigint,
    OUT p_start_pos timestamptz,
    OUT p_start_id bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_restatement_id bigint,
    OUT p_former_array bigint[]
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $step_to_process$
BEGIN
    WITH named AS MATERIALIZED (
        SELECT
            coalesce(
                (SELECT s.topic_id FROM omd_lineage.topic AS s WHERE s.topic = p_topic),
                omd_lineage._require_topic(p_topic)
            ) AS topic_id
    )

    SELECT
        t.topic_id, t.topic, t.table_code, t.processor, t.transforms, t.merge_key, t.recompute_key,
        t.before_sql, t.after_sql, t.reload_method,
        omd.insert_column(t.module_id),
        (
            SELECT min(d.table_code) FROM omd_lineage.dependency AS d
            WHERE d.topic_id = t.topic_id AND d.ordinal = 1
        ),
        CASE
            WHEN EXISTS (
                SELECT FROM omd_lineage.dependency AS d
                WHERE d.topic_id = t.topic_id AND d.ordinal = 1 AND d.source_kind_code = 'FACTS'
            )
                THEN omd_lineage._block_source(t.topic_id)
        END,
        -- A block that is taken again is another one than the planned block, whose rows these are.
        CASE WHEN b.n = 3 THEN o.rows END,
        (b.start).pos, (b.start).id, (b.upto).pos, (b.upto).id,
        r.restatement_id, r.former_array
    INTO
        p_topic_id, p_name, p_table_code, p_processor, p_transforms, p_merge_key, p_recompute_key,
        p_before_sql, p_after_sql, p_reload_method, p_insert_column, p_base_table, p_source_code,
        p_rows, p_start_pos, p_start_id, p_end_pos, p_end_id, p_restatement_id, p_former_array
    FROM named AS n
    CROSS JOIN LATERAL (
        SELECT f.* FROM omd_lineage.offsets AS f
        WHERE f.topic_id BETWEEN n.topic_id AND n.topic_id
        ORDER BY f.topic_id DESC
        LIMIT 1
    ) AS o
    INNER JOIN omd_lineage.topic AS t ON o.topic_id = t.topic_id
    LEFT JOIN omd_lineage.restatement AS r ON o.restatement_id = r.restatement_id
    CROSS JOIN LATERAL omd.taken_window(p_module_instance_id) AS w
    CROSS JOIN LATERAL (
        SELECT k.n, k.start, k.upto
        FROM (
            VALUES
            (
                1,
                ROW(w.p_start_value, w.p_start_id)::omd_lineage.row_position,
                ROW(w.p_end_value, w.p_end_id)::omd_lineage.row_position
            ),
            (2, r.block_start, r.block_end),
            (3, coalesce(o.quiet_start, o.last), o.next)
        ) AS k (n, start, upto)
        WHERE k.upto IS NOT NULL OR k.n = 3
        ORDER BY k.n
        LIMIT 1
    ) AS b
    WHERE o.module_instance_id = p_module_instance_id
        AND o.plan_number = p_plan_number;
END
$step_to_process$;

COMMENT ON FUNCTION omd_lineage._step_to_process IS
'Returns what the step p_module_instance_id of p_topic under the fence p_plan_number is to do: the '
'topic, its base table, the source of facts that it reads, the column of the run in its table, the '
'block (p_start_pos and p_start_id, p_end_pos and p_end_id] with p_rows rows (NULL: it is taken '
'again), and the restatement with the former runs of the block. All are NULL when the step does '
'not hold its topic. Errors: OM005: p_topic is NULL; OM015: it is not registered. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._step_to_process TO omd_runner;
