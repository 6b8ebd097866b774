-- A step and a plan ask here. A RELOAD has no block.

CREATE OR REPLACE FUNCTION omd_lineage._next_return(
    p_topic_id integer,
    OUT p_start_pos timestamptz,
    OUT p_start_id bigint,
    OUT p_end_pos timestamptz,
    OUT p_end_id bigint,
    OUT p_former_array bigint[],
    OUT p_stands boolean
)
RETURNS record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_return$
BEGIN
    SELECT r.p_start_value, r.p_start_id, r.p_end_value, r.p_end_id, r.p_former_instances
    INTO p_start_pos, p_start_id, p_end_pos, p_end_id, p_former_array
    FROM omd_lineage.topic AS t
    CROSS JOIN LATERAL omd.next_window_return(t.module_id) AS r
    WHERE t.topic_id = p_topic_id AND t.processor <> 'RELOAD';
    p_stands := p_former_array IS NULL OR omd_lineage._block_stands(p_topic_id, p_end_id);
END
$next_return$;

COMMENT ON FUNCTION omd_lineage._next_return IS
'Returns the block (p_start_pos and p_start_id, p_end_pos and p_end_id] that the topic p_topic_id '
'takes again next after a recall, the runs whose it was (NULL: there is none), and whether it can '
'come as it was (p_stands): no undo of facts has reached over its end. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._next_return TO omd_runner, omd_admin;
