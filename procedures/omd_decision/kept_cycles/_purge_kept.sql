-- The row of the run stays, since it is small and tells what decided. So the next run is looked for
-- where rows are kept. Ids and beginnings of runs rise together.

CREATE OR REPLACE FUNCTION omd_decision._purge_kept(
    p_before timestamptz,
    p_limit integer,
    INOUT p_last_id bigint,
    INOUT p_deleted bigint
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_kept$
DECLARE
    v_run bigint;
    v_cycles bigint;
    v_rejects bigint;
BEGIN
    p_last_id := coalesce(p_last_id, 0);
    SELECT least(
        (
            SELECT min(c.module_instance_id) FROM omd_decision.cycle AS c
            WHERE c.module_instance_id > p_last_id
        ),
        (
            SELECT min(j.module_instance_id) FROM omd_decision.reject AS j
            WHERE j.module_instance_id > p_last_id
        )
    ) INTO v_run;
    PERFORM FROM omd_decision.run AS r
    WHERE r.module_instance_id = v_run AND r.begun_at < p_before;
    IF NOT FOUND THEN
        p_last_id := NULL;
        RETURN;
    END IF;
    DELETE FROM omd_decision.cycle AS c
    WHERE c.ctid = ANY(
        ARRAY(
            SELECT k.ctid FROM omd_decision.cycle AS k
            WHERE k.module_instance_id = v_run
            LIMIT p_limit
        )
    );
    GET DIAGNOSTICS v_cycles = ROW_COUNT;
    DELETE FROM omd_decision.reject AS j
    WHERE j.ctid = ANY(
        ARRAY(
            SELECT k.ctid FROM omd_decision.reject AS k
            WHERE k.module_instance_id = v_run
            LIMIT p_limit
        )
    );
    GET DIAGNOSTICS v_rejects = ROW_COUNT;
    p_deleted := p_deleted + v_cycles + v_rejects;
    IF greatest(v_cycles, v_rejects) < p_limit THEN
        p_last_id := v_run;
    END IF;
END
$purge_kept$;

COMMENT ON FUNCTION omd_decision._purge_kept IS
'Deletes p_limit cycles and p_limit rejects of the first run after p_last_id that has kept some '
'and began before p_before. It returns the last run with nothing left, NULL at the end, and adds '
'the rows to p_deleted. Locks: the deleted rows.';
GRANT EXECUTE ON FUNCTION omd_decision._purge_kept TO omd_admin;
