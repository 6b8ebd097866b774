-- A topic that replaces rows is undone by a template of its own, whatever its area has. It stays
-- when the topic replaces no rows any more, since its former steps did.

CREATE OR REPLACE PROCEDURE omd_lineage._register_put_back(
    p_module_id integer
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $register_put_back$
DECLARE
    v_module_code text := (
        SELECT m.module_code FROM omd.module_target AS m WHERE m.module_id = p_module_id
    );
BEGIN
    CALL omd.register_rollback(
        v_module_code,
        'SELECT omd_lineage.put_back_rows({instance_array})',
        p_count_template =>
        'SELECT count(*) FROM {table} WHERE {insert_instance_column} = ANY ({instance_array})'
    );
END
$register_put_back$;

COMMENT ON PROCEDURE omd_lineage._register_put_back IS
'Registers the rollback of the Module p_module_id that puts back the rows which its steps have '
'replaced. Locks: the Module row.';
