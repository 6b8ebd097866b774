-- The newest version of the row comes first when it is read backwards, as omd.heartbeat says. The
-- setting is here and not with the callers, who run the SQL of users.

CREATE OR REPLACE FUNCTION omd_lineage._offset_of(
    p_topic_id integer
)
RETURNS SETOF omd_lineage.offsets
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
ROWS 1
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $offset_of$
BEGIN
    RETURN QUERY
    SELECT o.* FROM omd_lineage.offsets AS o
    WHERE o.topic_id BETWEEN p_topic_id AND p_topic_id
    ORDER BY o.topic_id DESC
    LIMIT 1;
END
$offset_of$;

COMMENT ON FUNCTION omd_lineage._offset_of IS
'Returns the offset of the topic p_topic_id, or no row. Locks: none.';
