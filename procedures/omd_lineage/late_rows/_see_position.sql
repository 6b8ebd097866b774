-- The table stays small, however often it is written. Rows older than every open transaction are
-- deleted except the last one, and rows are added less often the further back the kept rows reach.

CREATE OR REPLACE FUNCTION omd_lineage._see_position(
    p_table_name text,
    p_position omd_lineage.row_position
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $see_position$
DECLARE
    v_last omd_lineage.seen_position;
    v_first timestamptz;
BEGIN
    SELECT s.* INTO v_last FROM omd_lineage.seen_position AS s
    WHERE s.table_name = p_table_name
    ORDER BY s.seen_at DESC
    LIMIT 1;
    IF FOUND THEN
        IF v_last.position = p_position THEN
            RETURN;
        ELSIF p_position IS NULL OR p_position < v_last.position THEN
            -- The table was emptied, so earlier positions say nothing about its rows now.
            DELETE FROM omd_lineage.seen_position AS s WHERE s.table_name = p_table_name;
        END IF;
        DELETE FROM omd_lineage.seen_position AS s
        WHERE s.table_name = p_table_name
            AND s.seen_at < (
                SELECT max(older.seen_at) FROM omd_lineage.seen_position AS older
                WHERE older.table_name = p_table_name
                    AND older.seen_at <= (
                        SELECT coalesce(min(a.xact_start), 'infinity')
                        FROM pg_stat_activity AS a
                        WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
                    )
            );
        SELECT s.seen_at INTO v_first FROM omd_lineage.seen_position AS s
        WHERE s.table_name = p_table_name
        ORDER BY s.seen_at
        LIMIT 1;
        IF v_first < v_last.seen_at
            AND clock_timestamp() - v_last.seen_at < (clock_timestamp() - v_first) / 100
        THEN
            RETURN;
        END IF;
    END IF;
    IF p_position IS NOT NULL THEN
        INSERT INTO omd_lineage.seen_position (table_name, seen_at, position)
        VALUES (p_table_name, clock_timestamp(), p_position)
        ON CONFLICT DO NOTHING;
    END IF;
END
$see_position$;

COMMENT ON FUNCTION omd_lineage._see_position IS
'Remembers that p_position was the newest row of the table p_table_name at this moment; NULL says '
'that the table is empty. Call it after the look at the table. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._see_position TO omd_runner, omd_admin;
