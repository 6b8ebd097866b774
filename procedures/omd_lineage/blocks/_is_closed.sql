-- Who takes rows back waits for those who read them, and no new one may begin meanwhile.
-- In PL/pgSQL, which keeps its plan: each step asks.

CREATE OR REPLACE FUNCTION omd_lineage._is_closed(
    p_topic_id integer
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $is_closed$
BEGIN
    RETURN EXISTS (
        SELECT 1
        FROM omd_lineage.dependency AS d
        INNER JOIN omd.source_position AS s
            ON d.table_code = s.table_code AND d.source_kind_code = s.source_kind_code
        WHERE
            d.topic_id = p_topic_id
            AND d.ordinal = 1
            AND d.source_kind_code = 'FACTS'
            AND s.is_closed
    );
END
$is_closed$;

COMMENT ON FUNCTION omd_lineage._is_closed IS
'Returns whether rows of the base table of the topic p_topic_id are being taken back now. Locks: '
'none.';
GRANT EXECUTE ON FUNCTION omd_lineage._is_closed TO omd_runner, omd_admin;
