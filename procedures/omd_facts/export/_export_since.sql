-- The newest export is the one whose run began last, since runs of an agreement follow each other.
-- What was undone after it was created may be among its rows, and may come back at the same moment
-- with other values. Then nobody knows what the receiver has, and all rows go again.

CREATE OR REPLACE FUNCTION omd_facts._export_since(
    p_export omd_facts.export,
    p_entity_id integer
)
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $export_since$
BEGIN
    IF p_export.export_mode = 'FULL' THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT
            CASE
                WHEN NOT EXISTS (
                    SELECT FROM omd_facts.load_log AS l
                    WHERE l.interface_id = x.interface_id
                        AND l.undone_by > x.newest_instance_id
                        AND l.transaction_datetime <= n.as_of
                        AND p_entity_id = ANY(l.entity_ids)
                ) THEN n.as_of
            END
        FROM omd_facts.export AS x
        INNER JOIN omd_facts.export_entity AS n USING (delivery_id)
        WHERE x.agreement_code = p_export.agreement_code
            AND x.exported_datetime IS NOT NULL
            AND n.entity_id = p_entity_id
        ORDER BY x.module_instance_id DESC
        LIMIT 1
    );
END
$export_since$;

COMMENT ON FUNCTION omd_facts._export_since IS
'Returns the moment since which p_export has the changes of the entity p_entity_id; NULL: it has '
'all rows. Locks: none.';
