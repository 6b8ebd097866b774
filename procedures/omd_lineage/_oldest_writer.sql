-- Who is still writing to a base table: his rows may be before others that can be seen already.
-- Sees every session, whoever asks.

CREATE OR REPLACE FUNCTION omd_lineage._oldest_writer(
    p_table regclass,
    OUT since timestamptz,
    OUT who text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $oldest_writer$
DECLARE
    v_kind "char" := (SELECT c.relkind FROM pg_class AS c WHERE c.oid = p_table);
    v_tables oid[] := ARRAY[p_table::oid];
BEGIN
    IF v_kind NOT IN ('r', 'p') THEN
        PERFORM omd.raise_error(
            'OM206',
            jsonb_build_object(
                'table_code', p_table::text,
                'problem', 'it is no table of this database, so nobody sees who is writing to it'
            )
        );
    END IF;
    IF v_kind = 'p' OR EXISTS (SELECT FROM pg_inherits AS h WHERE h.inhparent = p_table) THEN
        WITH RECURSIVE tree AS (
            SELECT p_table::oid AS relid
            UNION
            SELECT h.inhrelid
            FROM tree AS t
            INNER JOIN pg_inherits AS h ON t.relid = h.inhparent
        )
        SELECT array_agg(t.relid) INTO v_tables FROM tree AS t;
    END IF;

    -- A session of whose start nothing is known, or a prepared transaction, began at -infinity. One
    -- that waits for the lock has its time already.
    SELECT
        coalesce(a.xact_start, '-infinity'),
        coalesce(
            'the transaction of process ' || l.pid,
            'a prepared transaction'
        )
        || coalesce(' since ' || date_trunc('second', a.xact_start), '')
    INTO since, who
    FROM pg_locks AS l
    LEFT JOIN LATERAL pg_stat_get_activity(l.pid) AS a ON a.pid = l.pid
    WHERE l.locktype = 'relation'
        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        AND l.relation = ANY(v_tables)
        AND l.mode IN (
            'RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock'
        )
        AND l.pid IS DISTINCT FROM pg_backend_pid()
    ORDER BY coalesce(a.xact_start, '-infinity')
    LIMIT 1;
END
$oldest_writer$;

COMMENT ON FUNCTION omd_lineage._oldest_writer IS
'The oldest transaction that is open and has written, or waits to write, to the table p_table or '
'a partition of it: its start and its name; NULL when there is none. Errors: OM206 (not a table '
'of this database). Locks: none.';
REVOKE ALL ON FUNCTION omd_lineage._oldest_writer FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._oldest_writer TO omd_runner, omd_admin;
