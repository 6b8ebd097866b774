-- The rows of a destination may have positions of their own, such as the time of their loading. So
-- what the topics downstream take again is found from the rows themselves. The function reads them
-- with the rights of the caller; _widen_restatement writes.

CREATE OR REPLACE FUNCTION omd_lineage._widen_restatements(
    p_restatement_id bigint,
    p_table_code text,
    p_insert_instance_column text,
    p_instance_array bigint[]
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $widen_restatements$
DECLARE
    v_follower record;
    v_first omd_lineage.row_position;
    v_last omd_lineage.row_position;
BEGIN
    FOR v_follower IN
        SELECT other.restatement_id, b.pos_column, b.id_column
        FROM omd_lineage.restatement AS r
        INNER JOIN omd_lineage.restatement AS other ON r.call_id = other.call_id
        INNER JOIN omd_lineage.dependency AS d
            ON other.topic_id = d.topic_id AND r.topic_id = d.source_topic_id AND d.ordinal = 1
        INNER JOIN omd_lineage.base_table AS b ON other.topic_id = b.topic_id
        WHERE r.restatement_id = p_restatement_id AND b.pos_column IS NOT NULL
    LOOP
        -- The index of the positions would be walked for rows that lie anywhere.
        EXECUTE format(
            'WITH w AS MATERIALIZED ('
            'SELECT %1$I AS pos, %2$I AS id FROM %3$s WHERE %4$I = ANY($1) AND %1$I IS NOT NULL'
            ') SELECT f.pos, f.id, l.pos, l.id'
            ' FROM (SELECT w.pos, w.id FROM w ORDER BY w.pos, w.id LIMIT 1) AS f'
            ' CROSS JOIN (SELECT w.pos, w.id FROM w ORDER BY w.pos DESC, w.id DESC LIMIT 1) AS l',
            v_follower.pos_column, v_follower.id_column,
            omd.quote_table(p_table_code, 'POSTGRES')::regclass, p_insert_instance_column
        )
        INTO v_first.pos, v_first.id, v_last.pos, v_last.id
        USING p_instance_array;
        PERFORM omd_lineage._widen_restatement(v_follower.restatement_id, v_first, v_last);
    END LOOP;
END
$widen_restatements$;

COMMENT ON FUNCTION omd_lineage._widen_restatements IS
'Widens the ranges downstream of the range p_restatement_id, of the same call, to the positions of '
'the rows that the instances p_instance_array have written to p_table_code. Locks: these ranges.';
GRANT EXECUTE ON FUNCTION omd_lineage._widen_restatements TO omd_runner;
