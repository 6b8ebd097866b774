-- Dead tasks may be many: of a family at most 10,000 are looked at, by the index of those. The code
-- of an error is read only for who wants it, since a text may be long.

CREATE OR REPLACE FUNCTION omd_dispatch._some_dead(
    p_has_code boolean
)
RETURNS TABLE (
    family_code text,
    task_id bigint,
    task_type text,
    finished_at timestamptz,
    sqlstate_code text,
    is_all boolean
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $some_dead$
DECLARE
    v_most CONSTANT integer := 10000;
    v_family_code text;
BEGIN
    FOR v_family_code IN
        SELECT f.family_code FROM omd_dispatch.task_conf_family_desc AS f ORDER BY f.family_code
    LOOP
        RETURN QUERY EXECUTE format(
            $sql$
            SELECT $1, t.task_id, t.task_type, t.finished_at, t.sqlstate_code, count(*) OVER () < $2
            FROM (
                SELECT
                    s.task_id,
                    s.task_type,
                    s.finished_at,
                    CASE
                        WHEN $3 THEN omd_dispatch._class_of_error(s.error)
                    END AS sqlstate_code
                FROM %s AS s
                WHERE s.status = 'DEAD'
                LIMIT $2
            ) AS t
            $sql$,
            omd_dispatch._model_table(v_family_code)
        ) USING v_family_code, v_most, p_has_code;
    END LOOP;
END
$some_dead$;

COMMENT ON FUNCTION omd_dispatch._some_dead IS
'Returns dead tasks of each family, at most 10,000, and whether these are all of it; with '
'p_has_code the class of the error that a driver reported: an SQLSTATE, or that of an exception. '
'Locks: none.';
