-- A rollback may find that rows of successful runs refer to the rows that it deletes. A person must
-- decide whether to undo these runs too, so the error names their Modules.

CREATE OR REPLACE FUNCTION omd._raise_still_referenced(
    p_module_instance_id bigint,
    p_table_code text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $raise_still_referenced$
DECLARE
    v_instance record;
    v_module_codes text[];
BEGIN
    SELECT m.module_code, m.table_code, mi.rollback_instance_array INTO v_instance
    FROM omd.module_instance AS mi
    INNER JOIN omd.module AS m USING (module_id)
    WHERE mi.module_instance_id = p_module_instance_id;

    -- A foreign key on a partition belongs to a target that is the whole table.
    SELECT array_agg(m.module_code ORDER BY m.module_code) INTO v_module_codes
    FROM omd.module AS m
    WHERE m.platform_code = 'POSTGRES'
        AND omd.target_relation(m.table_code) IN (
            SELECT omd.target_relation(p_table_code)
            UNION ALL
            SELECT a.relid
            FROM pg_partition_ancestors(omd.target_relation(p_table_code)) AS a
        );

    PERFORM omd.raise_error(
        'OM112',
        jsonb_build_object(
            'module_code', v_instance.module_code,
            'table_code', v_instance.table_code,
            'module_instance_ids', v_instance.rollback_instance_array,
            'referencing_table', p_table_code,
            'referencing_module_codes', coalesce(v_module_codes, '{}'),
            'problem', concat_ws(
                '; ',
                p_problem,
                CASE
                    WHEN v_module_codes IS NULL THEN 'no Module loads ' || p_table_code
                    ELSE
                        p_table_code || ' is loaded by ' || array_to_string(v_module_codes, ', ')
                END
            )
        )
    );
END
$raise_still_referenced$;

COMMENT ON FUNCTION omd._raise_still_referenced IS
'Raises OM112: the rollback of a Module Instance is refused because rows of the table p_table_code '
'refer to its rows, as p_problem tells. Locks: none.';
REVOKE ALL ON FUNCTION omd._raise_still_referenced FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd._raise_still_referenced TO omd_runner;
