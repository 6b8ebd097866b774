-- What was undone is read by those alone that began before the undo was committed; of these nobody
-- knows whether they read before it or after it. The run that undid it has not.
-- Each look goes by an index: the planner expects that one record in 200 names a run, and would
-- read all records, whose number grows with history, where hardly one does.

CREATE OR REPLACE FUNCTION omd_provenance._readers_of_run(
    p_module_instance_id bigint,
    p_all boolean,
    p_positions jsonb DEFAULT NULL
)
RETURNS TABLE (
    module_instance_id bigint,
    table_code text,
    is_exact boolean,
    stands boolean,
    execution_status_code text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
AS $readers_of_run$
DECLARE
    v_run omd.ledger_run;
    v_module omd.ledger_module;
    v_undone_by bigint;
    v_tables text[];
    v_upto bigint;
    v_input record;
    v_first bigint;
BEGIN
    SELECT mi.* INTO v_run
    FROM omd.ledger_run AS mi
    WHERE mi.module_instance_id = p_module_instance_id;
    SELECT m.* INTO v_module FROM omd.ledger_module AS m WHERE m.module_id = v_run.module_id;
    SELECT u.p_undone_by, u.p_upto INTO v_undone_by, v_upto
    FROM omd_provenance._undone_upto(p_module_instance_id) AS u;

    -- It has recorded whose rows it read.
    RETURN QUERY
    SELECT r.module_instance_id, i.table_code, TRUE, omd_provenance._stands(r),
        r.execution_status_code::text
    FROM omd.ledger_record AS i
    INNER JOIN omd.ledger_run AS r ON i.module_instance_id = r.module_instance_id
    WHERE i.source_instances @> ARRAY[p_module_instance_id]
        AND r.execution_status_code IN ('S', 'E', 'F')
        AND (p_all OR omd_provenance._stands(r));

    IF NOT omd_provenance._may_have_rows(v_run, v_module) THEN
        RETURN;
    END IF;
    v_tables := omd_provenance._written_tables(p_module_instance_id);

    FOR v_input IN
        SELECT i.table_code, i.declared_code, i.pos_column, i.id_column,
            array_agg(i.module_id) AS module_array,
            array_agg(i.after_id) AS after_array,
            array_agg(coalesce(i.upto_id, 9223372036854775807)) AS upto_array
        FROM (
            SELECT w.table_code, w.declared_code, w.pos_column, w.id_column, w.module_id,
                w.after_id, w.upto_id
            FROM omd.ledger_input AS w
            WHERE w.table_code = ANY(v_tables) AND w.read_kind = 'WINDOW' AND w.after_id < v_upto
            UNION ALL
            SELECT u.table_code, u.table_code, NULL, NULL, u.module_id, 0, NULL
            FROM omd.undeclared_readers(
                ARRAY(
                    SELECT DISTINCT c.source_code
                    FROM omd_facts.changes_of_runs(ARRAY[p_module_instance_id]) AS c
                )
            ) AS u
            WHERE u.table_code = ANY(v_tables)
        ) AS i
        GROUP BY i.table_code, i.declared_code, i.pos_column, i.id_column
    LOOP
        RETURN QUERY
        SELECT r.module_instance_id, v_input.table_code, r.is_exact, r.stands,
            r.execution_status_code
        FROM omd_provenance._window_readers(
            v_run, v_undone_by, v_upto, p_all, v_input.module_array, v_input.table_code,
            v_input.declared_code, v_input.pos_column, v_input.id_column, v_input.after_array,
            v_input.upto_array, p_positions
        ) AS r;
    END LOOP;

    FOR v_input IN
        SELECT i.module_id, i.table_code, i.read_kind, i.after_id,
            coalesce(i.upto_id, 9223372036854775807) AS upto_id
        FROM omd.ledger_input AS i
        WHERE i.table_code = ANY(v_tables) AND i.read_kind = 'ALL' AND i.after_id < v_upto
        UNION ALL
        SELECT r.module_id, r.table_code, 'RECORDED', 0, 9223372036854775807
        FROM omd.ledger_read AS r
        WHERE r.table_code = ANY(v_tables)
    LOOP
        -- Not = alone, with which the planner could walk the primary key past other Modules.
        SELECT before.module_instance_id INTO v_first
        FROM omd.ledger_run AS before
        WHERE before.module_id >= v_input.module_id
            AND before.module_id <= v_input.module_id
            AND before.module_instance_id < p_module_instance_id
            AND before.execution_status_code IN ('S', 'E', 'F')
        ORDER BY before.module_id DESC, before.module_instance_id DESC
        LIMIT 1;
        RETURN QUERY
        SELECT r.module_instance_id, v_input.table_code, FALSE, omd_provenance._stands(r),
            r.execution_status_code::text
        FROM omd.ledger_run AS r
        WHERE r.module_id = v_input.module_id
            AND r.module_instance_id >= greatest(
                coalesce(v_first, p_module_instance_id), v_input.after_id + 1
            )
            AND r.module_instance_id <= least(v_input.upto_id, v_upto)
            AND r.module_instance_id <> p_module_instance_id
            AND r.module_instance_id IS DISTINCT FROM v_undone_by
            AND r.execution_status_code IN ('S', 'E', 'F')
            AND r.processing_indicator IN ('P', 'R')
            AND (p_all OR omd_provenance._stands(r))
            AND omd_provenance._could_see(v_run, r)
            AND (
                v_input.read_kind = 'ALL'
                OR EXISTS (
                    SELECT FROM omd.ledger_record AS i
                    WHERE i.module_instance_id = r.module_instance_id
                        AND i.table_code = v_input.table_code
                        AND i.source_instances IS NULL
                )
            );
    END LOOP;
END
$readers_of_run$;

COMMENT ON FUNCTION omd_provenance._readers_of_run IS
'Returns the runs that have read, or may have read, rows of the run p_module_instance_id, as '
'omd_provenance.direct_readers does. p_all: also those that do not stand; p_positions: as for '
'omd_provenance._window_readers. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._readers_of_run TO omd_reader;
