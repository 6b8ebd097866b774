-- A run of an entity belongs to the Module of its agreement there. Modules that read each other in
-- a circle wait for none of the circle.

CREATE OR REPLACE FUNCTION omd_provenance._upstream(
    p_items jsonb,
    p_instance_array bigint[]
)
RETURNS text[]
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $upstream$
BEGIN
    RETURN ARRAY(
        WITH RECURSIVE item AS MATERIALIZED (
            SELECT
                i.module_instance_id,
                coalesce('delivery.' || l.agreement_code, i.module_code) AS module_code,
                i.sources
            FROM jsonb_to_recordset(p_items) AS i (
                module_instance_id bigint, module_code text, delivery_id bigint, room text,
                sources bigint[]
            )
            LEFT JOIN LATERAL omd_delivery.deliveries_by_id(ARRAY[i.delivery_id]) AS l
                ON i.room = 'omd_delivery'
            WHERE i.module_instance_id IS NOT NULL
        ),

        upstream AS (
            SELECT unnest(i.sources) AS id
            FROM item AS i
            WHERE i.module_instance_id = ANY(p_instance_array)
            UNION
            SELECT unnest(i.sources)
            FROM upstream AS u
            INNER JOIN item AS i ON u.id = i.module_instance_id
        ),

        downstream AS (
            SELECT i.module_instance_id AS id FROM item AS i
            WHERE i.module_instance_id = ANY(p_instance_array)
            UNION
            SELECT i.module_instance_id
            FROM downstream AS d
            INNER JOIN item AS i ON d.id = ANY(i.sources)
        )

        SELECT i.module_code
        FROM upstream AS u
        INNER JOIN item AS i ON u.id = i.module_instance_id
        EXCEPT
        SELECT i.module_code
        FROM downstream AS d
        INNER JOIN item AS i ON d.id = i.module_instance_id
        ORDER BY 1
    );
END
$upstream$;

COMMENT ON FUNCTION omd_provenance._upstream IS
'Returns the Modules of what the runs p_instance_array have read, directly or not, among the items '
'p_items of a plan; those that have read of them in turn are left out, and their own. Locks: none.';
