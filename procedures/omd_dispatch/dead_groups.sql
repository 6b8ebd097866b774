-- A person revives the dead by what they died of. The text of an error may hold values of rows, so
-- the code before it makes the group. Of a family at most 10,000 are looked at, by the index of
-- dead tasks.

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
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $dead_groups$
DECLARE
    v_most CONSTANT integer := 10000;
    v_family_code text;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        RETURN QUERY EXECUTE format(
            $sql$
            SELECT
                $1,
                d.task_type,
                d.sqlstate_code,
                count(*),
                d.looked_at < $2,
                min(d.finished_at),
                min(d.task_id)
            FROM (
                SELECT
                    t.task_id,
                    t.task_type,
                    t.finished_at,
                    substring(t.error FROM '^([0-9A-Z]{5}|[A-Za-z_][A-Za-z0-9_.]*): ')
                        AS sqlstate_code,
                    count(*) OVER () AS looked_at
                FROM (
                    SELECT s.task_id, s.task_type, s.finished_at, s.error
                    FROM %s AS s
                    WHERE s.status = 'DEAD'
                    LIMIT $2
                ) AS t
            ) AS d
            GROUP BY d.task_type, d.sqlstate_code, d.looked_at
            ORDER BY d.task_type, d.sqlstate_code
            $sql$,
            omd_dispatch._model_table(v_family_code)
        ) USING v_family_code, v_most;
    END LOOP;
END
$dead_groups$;

COMMENT ON FUNCTION omd_dispatch.dead_groups IS
'Returns the dead tasks by family, type and the code of their error (an SQLSTATE, or the class of '
'an exception; NULL when there is none): how many, whether these are all, since when, and the '
'first of them. Of a family 10,000 are looked at. Locks: none. May be NULL: sqlstate_code.';
REVOKE ALL ON FUNCTION omd_dispatch.dead_groups FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch.dead_groups TO omd_reader;
