-- There is one part per Module. Rows that refer to others are undone before these, so a target
-- comes the later, the more targets of the parts refer to it, directly or through others. Where no
-- foreign key decides, the companions come first. One Module alone has no order.

CREATE OR REPLACE FUNCTION omd._rollback_parts(
    p_module_instance_id bigint
)
RETURNS TABLE (
    place integer,
    module_id integer,
    instance_array bigint[]
)
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $rollback_parts$
DECLARE
    v_instance omd.module_instance;
    v_array bigint[];
    v_companions bigint[];
BEGIN
    SELECT mi.* INTO v_instance
    FROM omd.module_instance AS mi
    WHERE mi.module_instance_id = p_module_instance_id AND mi.module_id IS NOT NULL;
    IF NOT FOUND THEN
        PERFORM omd._raise_module_instance_state(p_module_instance_id, 'be rolled back');
    END IF;

    -- The instances come from the evaluation if there was one, else from what a begin would roll
    -- back now.
    IF v_instance.execution_status_code = 'E' AND v_instance.processing_indicator = 'R' THEN
        v_array := v_instance.rollback_instance_array;
        v_companions := v_instance.companion_instance_array;
    ELSE
        v_array := omd.pending_rollback(v_instance.module_id);
        v_companions := omd._companion_instances(v_instance.module_id, v_array);
    END IF;

    IF coalesce(cardinality(v_companions), 0) = 0 THEN
        RETURN QUERY
        SELECT 1, mi.module_id, array_agg(mi.module_instance_id ORDER BY mi.module_instance_id)
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = ANY(v_array)
        GROUP BY mi.module_id;
        RETURN;
    END IF;
    RETURN QUERY
    WITH part AS MATERIALIZED (
        SELECT
            mi.module_id,
            array_agg(mi.module_instance_id ORDER BY mi.module_instance_id) AS instance_array
        FROM omd.module_instance AS mi
        WHERE mi.module_instance_id = ANY(v_array || v_companions)
        GROUP BY mi.module_id
    ),

    target AS MATERIALIZED (
        SELECT
            p.module_id,
            u.relation
        FROM part AS p
        INNER JOIN omd.module AS m USING (module_id)
        CROSS JOIN LATERAL omd._undone_tables(
            omd.target_relation(m.table_code), m.insert_instance_column
        ) AS u
        WHERE m.platform_code = 'POSTGRES'
    )

    SELECT
        row_number() OVER (
            ORDER BY
                (
                    SELECT count(*)
                    FROM target AS own
                    CROSS JOIN LATERAL omd._referencing_tables(own.relation) AS r (relation)
                    INNER JOIN target AS other ON r.relation = other.relation
                    WHERE own.module_id = p.module_id
                ),
                p.module_id = v_instance.module_id,
                p.module_id
        )::integer,
        p.module_id,
        p.instance_array
    FROM part AS p
    ORDER BY 1;
END
$rollback_parts$;

COMMENT ON FUNCTION omd._rollback_parts IS
'Returns the Modules whose instances are undone together, in the order of undoing, and the '
'instances of each: for what the Module Instance has to undo, or for what a begin of its Module '
'would undo now. There is no row when nothing is pending. Errors: OM004, OM005. Locks: none.';
GRANT EXECUTE ON FUNCTION omd._rollback_parts TO omd_runner, omd_admin;
