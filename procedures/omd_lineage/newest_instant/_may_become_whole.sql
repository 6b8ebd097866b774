-- What a trigger reports says nothing of the rows that may still come beside it, and after the last
-- report nobody leaves a note. A writer that holds the offset has something to report anyway, and
-- nobody waits for it.

CREATE OR REPLACE FUNCTION omd_lineage._may_become_whole(
    p_topic_id integer,
    p_table oid,
    p_pos_column text,
    p_id_column text
)
RETURNS boolean
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $may_become_whole$
BEGIN
    IF NOT EXISTS (
        SELECT
        FROM omd_lineage._offset_of(p_topic_id) AS o
        INNER JOIN omd_lineage.topic AS t ON o.topic_id = t.topic_id
        WHERE NOT o.is_whole
            AND o.last IS NOT NULL
            AND p_pos_column <> ''
            AND (
                t.take_ties IS NOT NULL
                OR omd_lineage._never_whole(p_table, p_pos_column, p_id_column) IS NULL
            )
    ) THEN
        RETURN FALSE;
    END IF;
    PERFORM FROM omd_lineage.offsets AS o
    WHERE o.topic_id = p_topic_id
    FOR NO KEY UPDATE SKIP LOCKED;
    RETURN FOUND;
END
$may_become_whole$;

COMMENT ON FUNCTION omd_lineage._may_become_whole IS
'Answers whether a look may find that the newest instant of the source p_topic_id, the table '
'p_table with p_pos_column and p_id_column, is whole. Locks: if so, the offset, without waiting.';
GRANT EXECUTE ON FUNCTION omd_lineage._may_become_whole TO omd_runner, omd_admin;
