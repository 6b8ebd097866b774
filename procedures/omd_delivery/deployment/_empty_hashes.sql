-- The hash of a version that was made while an attribute was retired does not have its value, so it
-- can't tell whether that value changes now.

CREATE OR REPLACE FUNCTION omd_delivery._empty_hashes(
    p_interface_id integer,
    p_old jsonb,
    p_new jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $empty_hashes$
DECLARE
    v_back record;
BEGIN
    FOR v_back IN
        SELECT e.entity_id, c.object_code
        FROM omd_delivery._model_changes(p_old, p_new) AS c
        INNER JOIN omd_delivery.entity AS e
            ON e.interface_id = p_interface_id AND c.entity_code = e.entity_code
        WHERE c.kind = 'attribute' AND c.property = 'retired' AND c.new_value = 'false'
        ORDER BY c.place
    LOOP
        EXECUTE format(
            $sql$
            UPDATE %s AS l SET acm_hash_a = NULL, acm_hash_b = NULL
            WHERE l.acm_end_dt = '9999-12-31 00:00:00+00' AND l.%I IS NOT NULL
            $sql$,
            (omd_delivery._entity_sql(v_back.entity_id)).lvl_table, v_back.object_code
        );
    END LOOP;
END
$empty_hashes$;

COMMENT ON FUNCTION omd_delivery._empty_hashes IS
'Empties the hashes of open rows with a value of an attribute that is retired in the document '
'p_old of the interface p_interface_id, and no longer in p_new: their values are compared. Locks: '
'those rows.';
