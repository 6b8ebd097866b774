-- A START holds what the begin has fixed: what the Module declares. The end holds what the run has
-- read, as the ledger of provenance knows it. A key says what the table is, as for
-- omd_event._datasets.

CREATE OR REPLACE FUNCTION omd_event._run_tables(
    p_module_array integer[],
    p_begun bigint[],
    p_ended bigint[]
)
RETURNS TABLE (
    module_instance_id bigint,
    is_end boolean,
    is_output boolean,
    key text
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $run_tables$
DECLARE
    v_begun CONSTANT bigint[] := coalesce(p_begun, '{}');
    v_ended CONSTANT bigint[] := coalesce(p_ended, '{}');
    v_all CONSTANT bigint[] := v_begun || v_ended;
    v_read bigint[];
    v_parts bigint[];
    v_facts integer[];
    v_loads bigint[];
    v_exports bigint[];
BEGIN
    SELECT
        array_agg(DISTINCT mi.module_instance_id) FILTER (WHERE m.module_kind_code = 'PART'),
        array_agg(DISTINCT m.module_id) FILTER (WHERE m.module_kind_code = 'FACTS'),
        array_agg(DISTINCT mi.module_instance_id) FILTER (WHERE m.module_kind_code = 'FACTS'),
        array_agg(DISTINCT mi.module_instance_id) FILTER (WHERE m.module_kind_code = 'EXPORT')
    INTO v_parts, v_facts, v_loads, v_exports
    FROM omd.described_module AS m
    INNER JOIN omd.described_module_instance AS mi ON m.module_id = mi.module_id
    WHERE mi.module_instance_id = ANY(v_all)
        AND m.module_kind_code IN ('PART', 'FACTS', 'EXPORT');

    -- Inputs
    v_read := '{}';
    FOR module_instance_id, key IN
        SELECT DISTINCT r.module_instance_id, '?' || r.table_code
        FROM omd_report.run_inputs AS r
        WHERE r.module_instance_id = ANY(v_ended)
    LOOP
        is_end := TRUE;
        is_output := FALSE;
        v_read := v_read || module_instance_id;
        RETURN NEXT;
    END LOOP;
    RETURN QUERY
    SELECT DISTINCT mi.module_instance_id, s.is_end, FALSE, '?' || i.table_code
    FROM omd.described_module_instance AS mi
    INNER JOIN omd.ledger_input AS i
        ON
            mi.module_id = i.module_id
            AND i.after_id < mi.module_instance_id
            AND coalesce(mi.module_instance_id <= i.upto_id, TRUE)
    CROSS JOIN (VALUES (FALSE), (TRUE)) AS s (is_end)
    WHERE mi.module_instance_id = ANY(v_all)
        AND NOT (s.is_end AND mi.module_instance_id = ANY(v_read))
        AND i.table_code <> '';
    IF v_parts IS NOT NULL THEN
        RETURN QUERY
        SELECT d.module_instance_id, s.is_end, FALSE, 'P' || d.staged_table
        FROM omd_delivery.described_runs(v_parts) AS d
        CROSS JOIN (VALUES (FALSE), (TRUE)) AS s (is_end);
    END IF;

    -- Outputs
    RETURN QUERY
    SELECT
        mi.module_instance_id,
        s.is_end,
        TRUE,
        CASE
            WHEN m.table_format_code IN ('ICEBERG', 'DELTA') THEN 'L'
            WHEN m.platform_code = 'SPARK' THEN 'S'
            ELSE 'P'
        END || o.table_code
    FROM omd.described_module_instance AS mi
    INNER JOIN omd.described_module AS m ON mi.module_id = m.module_id
    INNER JOIN omd.output_tables(p_module_array) AS o ON m.module_id = o.module_id
    CROSS JOIN (VALUES (FALSE), (TRUE)) AS s (is_end)
    WHERE mi.module_instance_id = ANY(v_all)
        AND m.module_kind_code NOT IN ('FACTS', 'EXPORT');
    RETURN QUERY
    SELECT DISTINCT c.module_instance_id, TRUE, TRUE, 'L' || c.table_code
    FROM omd_lake.described_runs(v_ended) AS c
    WHERE NOT EXISTS (
        SELECT FROM omd.described_module_instance AS mi
        INNER JOIN omd.described_module AS m ON mi.module_id = m.module_id
        WHERE mi.module_instance_id = ANY(v_ended)
            AND mi.module_instance_id = c.module_instance_id
            AND m.table_code = c.table_code
    );
    IF v_facts IS NOT NULL THEN
        RETURN QUERY
        SELECT mi.module_instance_id, s.is_end, TRUE, 'P' || f.entity_table
        FROM omd.described_module_instance AS mi
        INNER JOIN omd_facts.described_entities(v_facts) AS f ON mi.module_id = f.module_id
        CROSS JOIN (VALUES (FALSE), (TRUE)) AS s (is_end)
        WHERE mi.module_instance_id = ANY(v_loads)
            AND NOT (
                s.is_end
                AND EXISTS (
                    SELECT FROM omd_facts.described_loads(v_loads) AS l
                    WHERE l.module_instance_id = mi.module_instance_id
                )
            );
        RETURN QUERY
        SELECT mi.module_instance_id, s.is_end, FALSE, '?' || f.source_table
        FROM omd.described_module_instance AS mi
        INNER JOIN omd_facts.described_entities(v_facts) AS f ON mi.module_id = f.module_id
        CROSS JOIN (VALUES (FALSE), (TRUE)) AS s (is_end)
        WHERE mi.module_instance_id = ANY(v_loads)
            AND NOT (s.is_end AND mi.module_instance_id = ANY(v_read));
        RETURN QUERY
        SELECT l.module_instance_id, TRUE, TRUE, 'P' || l.entity_table
        FROM omd_facts.described_loads(v_loads) AS l;
    END IF;
    IF v_exports IS NOT NULL THEN
        RETURN QUERY
        SELECT x.module_instance_id, s.is_end, TRUE, 'U' || x.target_uri
        FROM omd_facts.exports_of_runs(v_exports) AS x
        CROSS JOIN (VALUES (FALSE), (TRUE)) AS s (is_end);
    END IF;
END
$run_tables$;

COMMENT ON FUNCTION omd_event._run_tables IS
'Returns what the runs p_begun and p_ended of the Modules p_module_array read and write: at the '
'begin (is_end FALSE) what was fixed then, at the end what it came to. A run may come back with an '
'event that was not asked for. Locks: none.';
