-- The log grows with each step, and only reports read it. The rows that steps have replaced go with
-- it, but not those of runs that wait to be undone. Of the purged steps of a Module the newest
-- remains, so that an undo which comes too late is refused.

CREATE OR REPLACE FUNCTION omd_lineage._purge_log(
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
AS $purge_log$
DECLARE
    v_from bigint := coalesce(p_last_id, 0);
    v_deleted bigint;
BEGIN
    SELECT CASE WHEN min(span.ts) < p_before THEN max(span.module_instance_id) END
    INTO p_last_id
    FROM (
        SELECT l.module_instance_id, l.ts
        FROM omd_lineage.log AS l
        WHERE l.module_instance_id > v_from
        ORDER BY l.module_instance_id
        LIMIT p_limit
    ) AS span;
    UPDATE omd_lineage.replacement AS r SET is_purged = TRUE
    FROM omd_lineage.log AS l
    WHERE r.module_instance_id > v_from
        AND r.module_instance_id <= p_last_id
        AND NOT r.is_purged
        AND l.module_instance_id = r.module_instance_id
        AND l.ts < p_before
        AND r.module_instance_id < coalesce(
            (SELECT min(u.id) FROM unnest(omd.pending_rollback(r.module_id)) AS u (id)),
            9223372036854775807
        );
    DELETE FROM omd_lineage.replaced_row AS k
    USING omd_lineage.replacement AS r
    WHERE r.module_instance_id > v_from
        AND r.module_instance_id <= p_last_id
        AND r.is_purged
        AND k.module_instance_id = r.module_instance_id;
    DELETE FROM omd_lineage.replacement AS r
    USING (
        SELECT n.module_id, max(n.module_instance_id) AS newest
        FROM omd_lineage.replacement AS n
        WHERE n.module_instance_id > v_from
            AND n.module_instance_id <= p_last_id
            AND n.is_purged
        GROUP BY n.module_id
    ) AS n
    WHERE r.module_id = n.module_id AND r.module_instance_id < n.newest AND r.is_purged;
    DELETE FROM omd_lineage.log AS l
    WHERE l.module_instance_id > v_from
        AND l.module_instance_id <= p_last_id
        AND l.ts < p_before
        AND NOT EXISTS (
            SELECT FROM omd_lineage.replacement AS r
            WHERE r.module_instance_id = l.module_instance_id AND NOT r.is_purged
        );
    GET DIAGNOSTICS v_deleted = ROW_COUNT;
    p_deleted := p_deleted + v_deleted;
END
$purge_log$;

COMMENT ON FUNCTION omd_lineage._purge_log IS
'Deletes, among the p_limit entries of the log of steps after the run p_last_id, those older than '
'p_before, with the rows that these steps have replaced by key, unless their undo is pending; such '
'a step can''t be undone any more. It returns the last run that it looked at, NULL at the end, and '
'adds the entries to p_deleted. Locks: the deleted rows.';
GRANT EXECUTE ON FUNCTION omd_lineage._purge_log TO omd_admin;
