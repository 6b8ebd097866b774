-- A row bears a time from before its commit. So what reads rows by that time reads up to where no
-- such row can come any more: before the start of every run that still writes, and of every
-- transaction that has a lock to write. It looks first and reads later. A run whose begin commits
-- after this look takes its times after that commit (omd.stamp_datetime), hence after the now() of
-- this transaction. Who writes where a room tells how far one may read does not matter.

CREATE OR REPLACE FUNCTION omd.visible_until(
    p_table_code text,
    p_column_name text DEFAULT NULL,
    OUT p_until timestamptz,
    OUT p_who text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $visible_until$
DECLARE
    v_bound record;
    v_table record;
    v_writer record;
    v_run record;
    v_tables oid[] := '{}'::oid[];
BEGIN
    p_until := now();
    v_bound := omd.readable_until(p_table_code, p_column_name);
    IF v_bound.p_until < p_until THEN
        p_until := v_bound.p_until;
        p_who := v_bound.p_who;
    END IF;
    FOR v_table IN
        SELECT r.relation_id, c.relkind
        FROM omd.relations_under(omd.target_relation(p_table_code)) AS r
        INNER JOIN pg_class AS c ON r.relation_id = c.oid
        WHERE r.routine IS NULL
    LOOP
        v_tables := v_tables || omd.table_family(v_table.relation_id);
        CONTINUE WHEN v_table.relkind NOT IN ('r', 'p');
        v_writer := omd.oldest_writer(v_table.relation_id);
        IF v_writer.p_since <= p_until THEN
            p_until := v_writer.p_since - interval '1 microsecond';
            p_who := format(
                '%s writes to %s', v_writer.p_who, v_table.relation_id::regclass
            );
        END IF;
    END LOOP;
    SELECT
        o.start_datetime AS since,
        format(
            'Module Instance %s of %s %s',
            o.module_instance_id,
            m.module_code,
            CASE o.execution_status_code WHEN 'E' THEN 'executes' ELSE 'waits for its rollback' END
        ) AS who
    INTO v_run
    FROM omd.open_instance AS o
    INNER JOIN omd.module AS m USING (module_id)
    WHERE (o.execution_status_code = 'E' OR o.is_rollback_pending)
        AND o.start_datetime <= p_until
        AND m.platform_code = 'POSTGRES'
        -- The target may be a view over the table, and a Module may write other tables too.
        AND EXISTS (
            SELECT
            FROM (
                SELECT m.table_code
                UNION ALL
                SELECT t.table_code FROM omd.source_table AS t
                WHERE m.is_source AND t.source_code = 'runs.' || m.module_id
            ) AS w
            CROSS JOIN LATERAL omd.relations_under(omd.target_relation(w.table_code)) AS r
            WHERE r.relation_id = ANY(v_tables)
        )
    ORDER BY o.start_datetime
    LIMIT 1;
    IF FOUND THEN
        p_until := v_run.since - interval '1 microsecond';
        p_who := v_run.who;
    END IF;
END
$visible_until$;

COMMENT ON FUNCTION omd.visible_until IS
'For rooms: Returns up to which moment all rows of the table or view p_table_code are visible, by '
'the time p_column_name that they got when they were written: p_until, not after now(), and '
'p_who, what it waits for; NULL when it is now(). Every table under a view counts. p_until lies '
'before the start of each Module Instance that loads such a table and executes or waits for its '
'rollback, and of each open transaction that has a lock to write to it; -infinity: nothing is '
'sure. Where a room says how far one may read (omd.readable_until), that counts. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.visible_until TO omd_runner, omd_admin;
