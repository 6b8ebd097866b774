-- A row that another session holds is in use on this server already, so it is passed over; to wait
-- for it could deadlock with a session that waits for the row of omd.installation.

CREATE OR REPLACE FUNCTION omd._clear_server_bound()
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $clear_server_bound$
DECLARE
    v_bound omd.server_bound;
BEGIN
    FOR v_bound IN
        SELECT b.* FROM omd.server_bound AS b
        WHERE b.on_change = 'CLEAR'
        ORDER BY b.schema_name, b.table_name, b.column_name
    LOOP
        EXECUTE format(
            'UPDATE %1$I.%2$I SET %3$I = NULL WHERE ctid IN ('
            'SELECT t.ctid FROM %1$I.%2$I AS t WHERE t.%3$I IS NOT NULL AND (%4$s)'
            ' FOR UPDATE SKIP LOCKED)',
            v_bound.schema_name,
            v_bound.table_name,
            v_bound.column_name,
            coalesce(v_bound.row_condition, 'TRUE')
        );
    END LOOP;
END
$clear_server_bound$;

COMMENT ON FUNCTION omd._clear_server_bound IS
'Sets to NULL what the rooms have entered in omd.server_bound as CLEAR. Locks: the rows that have '
'a value; it passes over those that others hold.';
