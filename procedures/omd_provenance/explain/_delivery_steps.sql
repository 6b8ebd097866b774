-- Of a row of facts or of the Logical Validation Layer the delivery is known, and with lines the
-- place in its file. Of a row of a table only the deliveries are known that its run has read by
-- whatever way.

CREATE OR REPLACE FUNCTION omd_provenance._delivery_steps(
    p_instance_array bigint[],
    p_entity_code text,
    p_key jsonb,
    p_column text,
    p_file_no integer,
    p_line bigint
)
RETURNS TABLE (
    step text,
    value text,
    delivery_id bigint,
    file text,
    line bigint,
    text text,
    detail jsonb
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $delivery_steps$
BEGIN
    RETURN QUERY
    WITH of_run AS (
        SELECT d.delivery_id, coalesce(d.entity_code, p_entity_code) AS entity_code, d.load_kind
        FROM omd_provenance._deliveries_of(p_instance_array) AS d
        WHERE d.load_kind <> 'EXPORT'
    ),

    shown AS MATERIALIZED (
        SELECT
            d.*,
            CASE WHEN count(*) = 1 THEN min(o.entity_code) END AS entity_code,
            bool_or(o.load_kind = 'CRUD') AS is_edit,
            row_number() OVER (ORDER BY d.snapshot_datetime DESC NULLS LAST, d.delivery_id) AS n
        FROM of_run AS o
        INNER JOIN omd_delivery.shown_deliveries(
            ARRAY(SELECT r.delivery_id FROM of_run AS r)
        ) AS d ON o.delivery_id = d.delivery_id
        GROUP BY d.delivery_id, d.agreement_code, d.interface_code, d.tenant_code, d.tenant_name,
            d.layer_code, d.snapshot_datetime, d.delivery_status, d.verdict, d.reason, d.editor,
            d.event_datetime, d.text
    )

    SELECT s.step, s.value, s.delivery_id, s.file, s.line, s.text, s.detail
    FROM (
        SELECT
            1 AS place, d.n, 0::bigint AS nth, 'DELIVERY' AS step, d.agreement_code AS value,
            d.delivery_id, NULL AS file, NULL::bigint AS line,
            format(
                CASE WHEN d.is_edit THEN 'It was edited by hand, under %s.' ELSE 'It came with %s.' END,
                d.text
            ) AS text,
            jsonb_build_object(
                'agreement_code', d.agreement_code, 'interface_code', d.interface_code,
                'tenant_code', d.tenant_code, 'tenant_name', d.tenant_name,
                'layer_code', d.layer_code, 'snapshot_datetime', d.snapshot_datetime,
                'delivery_status', d.delivery_status
            ) AS detail
        FROM shown AS d
        UNION ALL
        SELECT
            2, d.n, coalesce(f.nth, 0), 'FILE', f.uri, d.delivery_id, f.uri,
            CASE WHEN f.uri IS NOT NULL THEN p_line END,
            CASE
                WHEN f.uri IS NULL THEN 'It is not from a file.'
                WHEN p_line IS NOT NULL THEN format('It is line %s of %s.', p_line, f.uri)
                ELSE format('It is from %s; the agreement keeps no lines.', f.uri)
            END,
            jsonb_build_object(
                'file_no', f.file_no, 'bytes', f.bytes, 'modified_datetime', f.modified_datetime,
                'files', f.files, 'table_code', f.table_code
            )
        FROM shown AS d
        LEFT JOIN LATERAL (
            SELECT
                l.*,
                row_number() OVER (ORDER BY l.table_code, l.file_no) AS nth,
                count(*) OVER () AS files
            FROM omd_delivery.files_of(d.delivery_id, d.entity_code) AS l
            WHERE p_file_no IS NULL OR l.file_no = p_file_no
            ORDER BY l.table_code, l.file_no
            LIMIT 20
        ) AS f ON TRUE
        UNION ALL
        SELECT
            3, d.n, coalesce(v.nth, 0), 'VERDICT', d.verdict, d.delivery_id, NULL, NULL,
            CASE
                WHEN v.constraint_code IS NULL
                    THEN format(
                        'Delivery %s was %s%s.', d.delivery_id, lower(d.verdict),
                        CASE
                            WHEN p_key IS NULL THEN ''
                            ELSE '; of this row no violation is kept'
                        END
                    )
                ELSE format(
                    'Delivery %s was %s; %s violated %s (%s)%s%s.',
                    d.delivery_id,
                    lower(d.verdict),
                    CASE
                        WHEN v.attribute_code = p_column THEN 'this value'
                        ELSE coalesce(v.attribute_code || ' of this row', 'this row')
                    END,
                    v.constraint_code,
                    v.constraint_type,
                    ', ' || lower(v.action),
                    CASE
                        WHEN v.attribute_code IS NOT NULL
                            THEN ', delivered was ' || coalesce(v.raw ->> v.attribute_code, 'nothing')
                    END
                )
            END,
            CASE
                WHEN v.constraint_code IS NULL THEN '{}'
                ELSE jsonb_build_object(
                    'constraint_code', v.constraint_code, 'constraint_type', v.constraint_type,
                    'attribute_code', v.attribute_code, 'action', v.action,
                    'is_skipped', v.is_skipped, 'raw', v.raw, 'staged_from', v.staged_from
                )
            END
        FROM shown AS d
        LEFT JOIN LATERAL (
            SELECT l.*, row_number() OVER (
                ORDER BY (l.attribute_code = p_column) DESC NULLS LAST, l.constraint_code
            ) AS nth
            FROM omd_delivery.violations_of(d.delivery_id, d.entity_code, p_key) AS l
            WHERE p_key IS NOT NULL
        ) AS v ON TRUE
        WHERE d.verdict IS NOT NULL
    ) AS s
    WHERE s.n <= 20
    ORDER BY s.place, s.n, s.nth;
END
$delivery_steps$;

COMMENT ON FUNCTION omd_provenance._delivery_steps IS
'Returns the steps DELIVERY, FILE and VERDICT of omd_provenance.explain for the deliveries of the '
'runs p_instance_array, at most 20, the newest first. p_entity_code, p_key and p_column: the row '
'and its column; NULL: a row that has no key of a delivery. p_file_no and p_line: its place; NULL: '
'not known. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_provenance._delivery_steps TO omd_data_reader;
