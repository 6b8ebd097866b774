-- This is one step of a purge, so that each transaction is short.

CREATE OR REPLACE FUNCTION omd._purge_module_instances(
    p_before timestamptz,
    p_limit integer,
    INOUT p_last_id bigint,
    INOUT p_deleted bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_module_instances$
DECLARE
    v_deleted bigint;
    v_from bigint := coalesce(p_last_id, 0);
    v_doomed bigint[];
BEGIN
    SELECT
        CASE WHEN min(span.start_datetime) < p_before THEN max(span.module_instance_id) END
    INTO p_last_id
    FROM (
        SELECT
            mi.module_instance_id,
            mi.start_datetime
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id > v_from
        ORDER BY mi.module_instance_id
        LIMIT p_limit
    ) AS span;

    -- An abort or a skip decides nothing later. A success or a failure is deleted when it is older
    -- than what its Module still needs.
    WITH module_need AS MATERIALIZED (
        SELECT
            m.module_id,
            omd._oldest_needed_module_instance(m.module_id) AS oldest
        FROM (
            SELECT DISTINCT mi.module_id
            FROM omd.module_instance AS mi
            WHERE mi.module_instance_id > v_from
                AND mi.module_instance_id <= p_last_id
                AND mi.execution_status_code IN ('S', 'F')
        ) AS m
    ),

    doomed AS (
        SELECT mi.module_instance_id
        FROM omd.module_instance AS mi
        LEFT JOIN module_need AS mn ON mi.module_id = mn.module_id
        WHERE mi.module_instance_id > v_from
            AND mi.module_instance_id <= p_last_id
            AND mi.start_datetime < p_before
            AND NOT omd._is_open(
                mi.execution_status_code,
                mi.next_run_indicator,
                mi.rolled_back_by_module_instance_id
            )
            AND (
                mi.execution_status_code IN ('A', 'C') OR mi.module_instance_id < mn.oldest
            )
        -- The lock reads the row again, so a mark that an administrator sets in the meantime
        -- counts.
        FOR UPDATE OF mi SKIP LOCKED
    )

    SELECT array_agg(d.module_instance_id) INTO v_doomed FROM doomed AS d;
    v_doomed := omd._without_needed('MODULE', v_doomed);
    -- The way out of rows that a dead run has left is R on that run.
    v_doomed := ARRAY(
        SELECT d.id
        FROM unnest(v_doomed) AS d (id)
        WHERE NOT EXISTS (SELECT FROM omd.left_rows AS l WHERE l.module_instance_id = d.id)
    );

    DELETE FROM omd.write_ledger AS w WHERE w.module_instance_id = ANY(v_doomed);
    DELETE FROM omd.source_control AS sc WHERE sc.module_instance_id = ANY(v_doomed);
    DELETE FROM omd.undone_run AS u WHERE u.module_instance_id = ANY(v_doomed);
    DELETE FROM omd.dead_run AS r WHERE r.module_instance_id = ANY(v_doomed);
    DELETE FROM omd.run_input AS i WHERE i.module_instance_id = ANY(v_doomed);
    DELETE FROM omd.window_return AS w
    WHERE w.module_instance_id = ANY(v_doomed) AND w.ended_datetime IS NOT NULL;
    DELETE FROM omd.module_instance AS mi WHERE mi.module_instance_id = ANY(v_doomed);
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    p_deleted := p_deleted + v_deleted;
END
$purge_module_instances$;

COMMENT ON FUNCTION omd._purge_module_instances IS
'Deletes, among the p_limit Module Instances after the id p_last_id, those that started before '
'p_before and that neither an evaluation nor a room needs, with their load windows; a run that has '
'left rows after its death stays. It returns '
'the last id that it looked at, NULL at the end, and adds to p_deleted. Locks: the rows it '
'deletes.';
GRANT EXECUTE ON FUNCTION omd._purge_module_instances TO omd_admin;
