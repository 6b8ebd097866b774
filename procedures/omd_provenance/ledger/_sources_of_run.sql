-- It is the way of omd_provenance._readers_of_run from the other end: the same tables, the same
-- orders. What reads by windows is asked, as there, for each run that may have written; only the
-- one window counts here.

CREATE OR REPLACE FUNCTION omd_provenance._sources_of_run(
    p_module_instance_id bigint,
    p_all boolean,
    p_positions jsonb
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
AS $sources_of_run$
DECLARE
    v_run omd.ledger_run;
    v_window omd.ledger_window;
    v_input record;
BEGIN
    SELECT mi.* INTO v_run
    FROM omd.ledger_run AS mi
    WHERE mi.module_instance_id = p_module_instance_id;
    IF v_run.execution_status_code NOT IN ('S', 'E', 'F')
        OR v_run.processing_indicator NOT IN ('P', 'R')
    THEN
        RETURN;
    END IF;
    SELECT sc.* INTO v_window
    FROM omd.ledger_window AS sc
    WHERE sc.module_instance_id = p_module_instance_id;

    RETURN QUERY
    SELECT s.module_instance_id, i.table_code, TRUE, omd_provenance._stands(s),
        s.execution_status_code::text
    FROM omd.ledger_record AS i
    CROSS JOIN LATERAL unnest(i.source_instances) AS n (id)
    INNER JOIN omd.ledger_run AS s ON n.id = s.module_instance_id
    WHERE i.module_instance_id = p_module_instance_id
        AND (p_all OR omd_provenance._stands(s));

    FOR v_input IN
        SELECT i.table_code, i.declared_code, i.read_kind, i.pos_column, i.id_column
        FROM omd.ledger_input AS i
        WHERE i.module_id = v_run.module_id
            AND i.read_kind <> 'RUNS'
            AND i.after_id < p_module_instance_id
            AND coalesce(i.upto_id >= p_module_instance_id, TRUE)
        UNION ALL
        SELECT u.table_code, u.table_code, 'WINDOW', NULL, NULL
        FROM omd.undeclared_readers(ARRAY[v_window.source_code]) AS u
        WHERE u.module_id = v_run.module_id
        UNION ALL
        SELECT i.table_code, i.table_code, 'ALL', NULL, NULL
        FROM omd.ledger_record AS i
        WHERE i.module_instance_id = p_module_instance_id
            AND i.source_instances IS NULL
            -- The empty name stands for what nobody could look up.
            AND i.table_code <> ''
    LOOP
        IF v_input.read_kind = 'WINDOW' AND v_window.source_code IS NOT NULL THEN
            RETURN QUERY
            SELECT s.module_instance_id, v_input.table_code, TRUE, omd_provenance._stands(s),
                s.execution_status_code::text
            FROM omd_facts.changes_in_block(
                v_window.source_code, v_window.start_id, v_window.end_id
            ) AS c
            INNER JOIN omd.ledger_run AS s ON c.module_instance_id = s.module_instance_id
            WHERE coalesce(v_window.end_id < c.undone_by_change_id, TRUE)
                AND p_module_instance_id
                <= (omd_provenance._undone_upto(s.module_instance_id)).p_upto
                AND (p_all OR omd_provenance._stands(s))
                AND v_input.table_code = ANY(
                    omd_provenance._written_tables(s.module_instance_id)
                );
            CONTINUE;
        END IF;
        RETURN QUERY
        SELECT s.id, v_input.table_code, f.is_exact, s.stands, s.execution_status_code
        FROM omd_provenance._runs_writing(v_input.table_code, v_run, p_all) AS s
        INNER JOIN omd.ledger_run AS w ON s.id = w.module_instance_id
        CROSS JOIN LATERAL (
            SELECT r.is_exact
            FROM omd_provenance._undone_upto(s.id) AS u
            CROSS JOIN LATERAL omd_provenance._window_readers(
                w, u.p_undone_by, u.p_upto, TRUE, ARRAY[v_run.module_id], v_input.table_code,
                v_input.declared_code, v_input.pos_column, v_input.id_column,
                ARRAY[p_module_instance_id - 1], ARRAY[p_module_instance_id],
                p_positions -> s.id::text
            ) AS r
            WHERE v_input.read_kind = 'WINDOW' AND r.module_instance_id = p_module_instance_id
            UNION ALL
            SELECT FALSE
            WHERE v_input.read_kind = 'ALL'
        ) AS f;
    END LOOP;
END
$sources_of_run$;

COMMENT ON FUNCTION omd_provenance._sources_of_run IS
'Returns the runs whose rows the run p_module_instance_id has read, or may have read, as '
'omd_provenance.direct_sources does. p_all: also those that do not stand; p_positions: as for '
'omd_provenance._sources_in_ledger. Locks: none.';
