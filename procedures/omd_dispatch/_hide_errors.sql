-- A table of tasks gets a column with each criterion, so this is done after each of these changes.

CREATE OR REPLACE PROCEDURE omd_dispatch._hide_errors(
    p_family_code text
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $hide_errors$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN
        SELECT omd_dispatch._data_table(p_family_code)::regclass
        UNION ALL
        SELECT o.relation
        FROM omd_dispatch._task_tables(omd_dispatch._data_table(p_family_code)) AS o (relation)
    LOOP
        CALL omd.hide_columns(v_table, ARRAY['error']);
    END LOOP;
END
$hide_errors$;

COMMENT ON PROCEDURE omd_dispatch._hide_errors IS
'Grants the tables of tasks of p_family_code to omd_data_reader, and to omd_reader all but the '
'errors of tasks. Locks: none.';
REVOKE ALL ON PROCEDURE omd_dispatch._hide_errors FROM PUBLIC;
