-- A run that waits for its undo does not stand either; its rows do, until the undo is confirmed.

CREATE OR REPLACE FUNCTION omd_provenance._stale_runs()
RETURNS TABLE (
    module_instance_id bigint,
    module_code text,
    table_code text,
    source_instance_id bigint,
    undone_by_instance_id bigint,
    undone_datetime timestamptz,
    is_exact boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
ROWS 20
SET search_path = pg_catalog, pg_temp
AS $_stale_runs$
BEGIN
    RETURN QUERY
    WITH undone AS MATERIALIZED (
        SELECT
            u.module_instance_id AS id,
            nullif(u.undone_by, u.module_instance_id) AS undone_by,
            u.undone_datetime
        FROM omd.ledger_undone AS u
        WHERE NOT u.is_forgotten
        UNION ALL
        SELECT o.module_instance_id, NULL, NULL
        FROM omd.open_instance AS o
        WHERE o.is_rollback_pending AND o.execution_status_code = 'S'
    )

    SELECT
        r.module_instance_id,
        m.module_code,
        r.table_code,
        u.id,
        u.undone_by,
        u.undone_datetime,
        bool_or(r.is_exact)
    FROM undone AS u
    CROSS JOIN LATERAL omd_provenance._readers_of_run(u.id, FALSE) AS r
    INNER JOIN omd.ledger_run AS mi ON r.module_instance_id = mi.module_instance_id
    INNER JOIN omd.ledger_module AS m ON mi.module_id = m.module_id
    GROUP BY r.module_instance_id, m.module_code, r.table_code, u.id, u.undone_by,
        u.undone_datetime;
END
$_stale_runs$;

COMMENT ON FUNCTION omd_provenance._stale_runs IS
'Returns what the view omd_report.stale_runs shows. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._stale_runs TO omd_reader;
