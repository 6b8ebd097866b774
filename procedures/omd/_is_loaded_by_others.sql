-- Do other Modules load the same table, however they spell its name?

CREATE OR REPLACE FUNCTION omd._is_loaded_by_others(
    p_module_id integer
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT EXISTS(
        SELECT FROM omd.module AS m
        INNER JOIN omd.module AS other
            ON
                m.platform_code = other.platform_code
                AND m.module_id <> other.module_id
                AND omd.quote_table(m.table_code, m.platform_code)
                = omd.quote_table(other.table_code, other.platform_code)
        WHERE m.module_id = p_module_id
    );
END;

COMMENT ON FUNCTION omd._is_loaded_by_others IS
'Whether another Module is registered for the target of the Module p_module_id. Locks: none.';
REVOKE ALL ON FUNCTION omd._is_loaded_by_others FROM PUBLIC;
