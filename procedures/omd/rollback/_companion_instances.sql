-- An undone instance takes others with it: those of companions, and pending ones of Modules whose
-- rows refer to its rows by foreign keys. These take others in the same way, so the search repeats
-- until nothing is added. With the values of each call the long statement would be planned anew,
-- which takes longer than it runs.

CREATE OR REPLACE FUNCTION omd._companion_instances(
    p_module_id integer,
    p_instance_array bigint[]
)
RETURNS bigint[]
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $companion_instances$
DECLARE
    v_all bigint[] := p_instance_array;
    v_known integer;
BEGIN
    LOOP
        v_known := cardinality(v_all);
        WITH part AS MATERIALIZED (
            SELECT
                mi.module_id,
                array_agg(mi.module_instance_id ORDER BY mi.module_instance_id) AS instance_array
            FROM omd.module_instance AS mi
            WHERE mi.module_instance_id = ANY(v_all)
            GROUP BY mi.module_id
        )

        SELECT array_agg(DISTINCT instance.id) INTO v_all
        FROM (
            SELECT unnest(v_all) AS id
            UNION ALL
            SELECT unnest(omd._direct_companions(p.module_id, p.instance_array))
            FROM part AS p
            INNER JOIN (SELECT DISTINCT c.module_id FROM omd.module_companion AS c) AS c
                USING (module_id)
            UNION ALL
            SELECT unnest(omd.pending_rollback(r.module_id))
            FROM part AS p
            CROSS JOIN LATERAL omd._referencing_modules(p.module_id) AS r (module_id)
        ) AS instance;
        EXIT WHEN cardinality(v_all) IS NOT DISTINCT FROM v_known;
    END LOOP;
    IF v_known IS NOT DISTINCT FROM cardinality(p_instance_array) THEN
        RETURN NULL;
    END IF;

    RETURN (
        SELECT array_agg(mi.module_instance_id ORDER BY mi.module_instance_id)
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = ANY(v_all) AND mi.module_id <> p_module_id
    );
END
$companion_instances$;

COMMENT ON FUNCTION omd._companion_instances IS
'Returns the instances of other Modules that are undone together with the instances '
'p_instance_array of the Module p_module_id: those of its companions, and the pending ones of '
'Modules whose targets refer to its target; in the order of their ids, NULL when there are none. '
'Locks: none.';
GRANT EXECUTE ON FUNCTION omd._companion_instances TO omd_reader;
