-- Dead tasks may be many: of a family at most 10,000 are looked at, by the index of those.

CREATE OR REPLACE FUNCTION omd_dispatch._dead_types()
RETURNS TABLE (
    family_code text,
    task_type text,
    dead bigint,
    is_all boolean,
    oldest timestamptz,
    task_ids bigint[]
)
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
ROWS 20
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $dead_types$
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
                count(*),
                d.looked_at < $2,
                min(d.finished_at),
                (array_agg(d.task_id ORDER BY d.task_id))[1:20]
            FROM (
                SELECT t.task_id, t.task_type, t.finished_at, count(*) OVER () AS looked_at
                FROM (
                    SELECT s.task_id, s.task_type, s.finished_at
                    FROM %s AS s
                    WHERE s.status = 'DEAD'
                    LIMIT $2
                ) AS t
            ) AS d
            GROUP BY d.task_type, d.looked_at
            $sql$,
            omd_dispatch._model_table(v_family_code)
        ) USING v_family_code, v_most;
    END LOOP;
END
$dead_types$;

COMMENT ON FUNCTION omd_dispatch._dead_types IS
'Returns each type of tasks of which some are dead: how many, whether these are all, since when, '
'and the ids of the first 20. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._dead_types FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_dispatch._dead_types TO omd_reader;
