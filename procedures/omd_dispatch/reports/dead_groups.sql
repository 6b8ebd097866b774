-- A person revives the dead by what they died of. The text of an error may hold values of rows, so
-- the code before it makes the group.

CREATE OR REPLACE FUNCTION omd_dispatch.dead_groups()
RETURNS TABLE (
    family_code text,
    task_type text,
    sqlstate_code text,
    dead bigint,
    is_all boolean,
    since timestamptz,
    first_task_id bigint
)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
SET jit = off
BEGIN ATOMIC
    SELECT
        d.family_code,
        d.task_type,
        d.sqlstate_code,
        count(*) AS dead,
        bool_and(d.is_all) AS is_all,
        min(d.finished_at) AS since,
        min(d.task_id) AS first_task_id
    FROM omd_dispatch._some_dead(TRUE) AS d
    GROUP BY d.family_code, d.task_type, d.sqlstate_code
    ORDER BY d.family_code, d.task_type, d.sqlstate_code;
END;

COMMENT ON FUNCTION omd_dispatch.dead_groups IS
'For the driver: '
'Returns the dead tasks by family, type and the code of their error (an SQLSTATE, or the class of '
'an exception; NULL when there is none): how many, whether these are all, since when, and the '
'first of them. Of a family 10,000 are looked at. Locks: none. May be NULL: sqlstate_code.';
GRANT EXECUTE ON FUNCTION omd_dispatch.dead_groups TO omd_reader;
