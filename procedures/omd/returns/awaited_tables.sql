-- What is still to come may lie at positions that its readers have passed, so they wait. Most of
-- the time nothing is to come, and then this costs a few looks into empty tables.

CREATE OR REPLACE FUNCTION omd.awaited_tables()
RETURNS TABLE (
    table_code text,
    module_id integer,
    waits_for text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 1
SET search_path = pg_catalog, pg_temp
AS $awaited_tables$
BEGIN
    IF NOT EXISTS (SELECT FROM omd.awaited()) THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH awaited AS (
        SELECT
            a.module_id,
            min(a.recall_id) AS recall_id
        FROM (
            SELECT
                w.module_id,
                w.recall_id
            FROM omd.window_return AS w
            WHERE w.ended_datetime IS NULL
            UNION ALL
            SELECT
                r.module_id,
                r.recall_id
            FROM omd.module_return AS r
            INNER JOIN omd.module AS m USING (module_id)
            WHERE r.ended_datetime IS NULL
                AND m.module_kind_code IN (SELECT k.module_kind_code FROM omd.own_kind AS k)
            UNION ALL
            SELECT
                mi.module_id,
                p.recall_id
            FROM omd.pending_recall AS p
            INNER JOIN omd.module_instance AS mi USING (module_instance_id)
            WHERE mi.rolled_back_by_module_instance_id IS NULL AND mi.next_run_indicator = 'R'
        ) AS a
        GROUP BY a.module_id
    ),

    written AS (
        SELECT
            a.module_id,
            m.table_code
        FROM awaited AS a
        INNER JOIN omd.module AS m USING (module_id)
        UNION
        SELECT
            a.module_id,
            t.table_code
        FROM awaited AS a
        INNER JOIN omd.source_table AS t ON t.source_code = 'runs.' || a.module_id
    )

    SELECT DISTINCT
        o.table_code,
        a.module_id,
        format('%s, which recall %s takes again', m.module_code, a.recall_id)
    FROM written AS w
    INNER JOIN awaited AS a USING (module_id)
    INNER JOIN omd.module AS m USING (module_id)
    CROSS JOIN LATERAL unnest(
        coalesce(omd.relations_over(w.table_code), '{}') || w.table_code
    ) AS o (table_code);
END
$awaited_tables$;

COMMENT ON FUNCTION omd.awaited_tables IS
'For rooms: Returns the tables, and the views over them, that still lack rows which a recall took '
'back and which are to come again, or hold rows that wait for their rollback; the Module that '
'writes them, and what a reader waits for. Deliveries are not among them: changes of facts go by '
'commits. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.awaited_tables TO omd_reader, omd_runner;
