-- Schedulers probe at the same time, and a probe may be part of a long transaction. So a row that
-- another session is writing is left to it.

CREATE OR REPLACE FUNCTION omd_lineage._save_probe(
    p_new omd_lineage.source_probe
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
AS $save_probe$
BEGIN
    UPDATE omd_lineage.source_probe AS p SET
        probed_at = p_new.probed_at,
        null_id_pos = p_new.null_id_pos,
        ahead_pos = p_new.ahead_pos,
        table_oid = p_new.table_oid,
        null_rows = p_new.null_rows,
        is_read = p_new.is_read,
        probe_duration = p_new.probe_duration,
        newest = p_new.newest,
        taken = p_new.taken,
        taken_rows = p_new.taken_rows,
        late_rows = p_new.late_rows,
        waits_for = p_new.waits_for,
        problem = left(p_new.problem, 1000),
        shown_problem = left(p_new.shown_problem, 1000)
    WHERE p.source = (
        SELECT o.source FROM omd_lineage.source_probe AS o
        WHERE o.source = p_new.source
        FOR NO KEY UPDATE SKIP LOCKED
    );
    IF NOT FOUND THEN
        p_new.problem := left(p_new.problem, 1000);
        p_new.shown_problem := left(p_new.shown_problem, 1000);
        INSERT INTO omd_lineage.source_probe SELECT p_new.* ON CONFLICT DO NOTHING;
    END IF;
EXCEPTION
    WHEN lock_not_available THEN
        RETURN;
END
$save_probe$;

COMMENT ON FUNCTION omd_lineage._save_probe IS
'Saves p_new, what a probe has seen of a source, unless another session is saving another probe of'
' it. Locks: the row, without waiting.';
GRANT EXECUTE ON FUNCTION omd_lineage._save_probe TO omd_runner, omd_admin;
