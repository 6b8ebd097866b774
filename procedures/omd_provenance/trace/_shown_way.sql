-- The ledger says who read what; each room says what its own runs are in the eyes of people. Here
-- it is only put together, for whoever may trace a run or a row.

CREATE OR REPLACE FUNCTION omd_provenance._shown_way(
    p_module_instance_id bigint,
    p_way jsonb
)
RETURNS TABLE (
    direction text,
    distance integer,
    module_instance_id bigint,
    module_code text,
    module_kind_code text,
    table_code text,
    because_of bigint,
    is_exact boolean,
    stands boolean,
    delivery_id bigint,
    delivery_status text,
    files text[],
    text text
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $shown_way$
BEGIN
    RETURN QUERY
    WITH way AS MATERIALIZED (
        SELECT
            1 AS place, 'SELF' AS direction, 0 AS distance, p_module_instance_id AS id,
            NULL::text AS table_code, NULL::bigint AS because_of, TRUE AS is_exact,
            (
                SELECT omd_provenance._stands(mi) FROM omd.ledger_run AS mi
                WHERE mi.module_instance_id = p_module_instance_id
            ) AS stands
        UNION ALL
        SELECT
            CASE p.direction WHEN 'UP' THEN 2 ELSE 3 END, p.direction, p.distance,
            p.module_instance_id, p.table_code, p.because_of, p.is_exact, p.stands
        FROM jsonb_to_recordset(p_way) AS p (
            direction text, distance integer, module_instance_id bigint, table_code text,
            because_of bigint, is_exact boolean, stands boolean
        )
    ),

    of_runs AS MATERIALIZED (
        SELECT d.module_instance_id AS id, d.delivery_id, d.entity_code, d.load_kind
        FROM omd_provenance._deliveries_of(ARRAY(SELECT w.id FROM way AS w)) AS d
    )

    SELECT
        w.direction, w.distance, w.id, r.module_code, r.module_kind_code,
        coalesce(w.table_code, x.target_uri, r.table_code), w.because_of, w.is_exact, w.stands,
        o.delivery_id, d.delivery_status,
        CASE
            WHEN x.target_uri IS NOT NULL THEN ARRAY[x.target_uri]
            WHEN o.delivery_id IS NOT NULL
                THEN (
                    SELECT array_agg(DISTINCT f.uri ORDER BY f.uri)
                    FROM omd_delivery.files_of(o.delivery_id, o.entity_code) AS f
                )
        END,
        concat_ws(
            '; ',
            concat_ws(' ', format('%s, run %s,', r.module_code, w.id), r.text),
            CASE
                WHEN o.load_kind = 'RESYNC'
                    THEN 'it took over what the Logical Validation Layer has'
            END,
            d.text,
            'it went to ' || x.target_uri,
            CASE
                WHEN r.source_code IS NOT NULL AND r.end_id IS NOT NULL
                    THEN format(
                        'it read %s after %s up to %s',
                        r.source_code,
                        CASE WHEN r.start_id > 0 THEN r.start_id::text ELSE 'the beginning' END,
                        r.end_id
                    )
                WHEN r.end_value IS NOT NULL
                    THEN format(
                        'it read what came after %s up to %s',
                        coalesce(nullif(r.start_value, '-infinity')::text, 'the beginning'),
                        r.end_value
                    )
            END,
            CASE
                WHEN w.direction = 'SELF' AND r.task_id IS NOT NULL
                    THEN omd_dispatch.task_text(r.task_id)
            END,
            'begun by ' || CASE WHEN w.direction = 'SELF' THEN r.started_by END
        )
    FROM way AS w
    INNER JOIN omd.shown_runs(ARRAY(SELECT w.id FROM way AS w)) AS r
        ON w.id = r.module_instance_id
    LEFT JOIN of_runs AS o ON w.id = o.id
    LEFT JOIN omd_facts.exports_of_runs(ARRAY(SELECT w.id FROM way AS w)) AS x
        ON w.id = x.module_instance_id
    LEFT JOIN omd_delivery.shown_deliveries(
        ARRAY(SELECT o.delivery_id FROM of_runs AS o)
    ) AS d ON o.delivery_id = d.delivery_id
    ORDER BY w.place, w.distance, w.id, o.delivery_id;
END
$shown_way$;

COMMENT ON FUNCTION omd_provenance._shown_way IS
'Returns what omd_provenance.trace does of the run p_module_instance_id and of the runs p_way, an '
'array of objects with direction and what omd_provenance._walk answers. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._shown_way TO omd_data_reader, omd_reader;
