-- The log grows with each step, and only reports read it. The rows that steps have replaced go with
-- it, but not those of runs that wait to be undone. Of the purged steps of a Module the newest
-- remains, so that an undo which comes too late is refused.

CREATE OR REPLACE PROCEDURE omd_lineage.purge_log(
    p_keep interval,
    INOUT p_steps bigint DEFAULT NULL
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $purge_log$
DECLARE
    v_before timestamptz := omd.purge_cutoff(p_keep, 1);
BEGIN
    UPDATE omd_lineage.replacement AS r SET is_purged = TRUE
    WHERE NOT r.is_purged
        AND r.module_instance_id < coalesce(
            (SELECT min(u.id) FROM unnest(omd.pending_rollback(r.module_id)) AS u (id)),
            9223372036854775807
        )
        AND r.module_instance_id IN (
            SELECT l.module_instance_id FROM omd_lineage.log AS l WHERE l.ts < v_before
        );
    DELETE FROM omd_lineage.replaced_row AS k
    USING omd_lineage.replacement AS r
    WHERE k.module_instance_id = r.module_instance_id AND r.is_purged;
    DELETE FROM omd_lineage.replacement AS r
    WHERE r.is_purged AND EXISTS (
        SELECT FROM omd_lineage.replacement AS newer
        WHERE newer.module_id = r.module_id
            AND newer.is_purged
            AND newer.module_instance_id > r.module_instance_id
    );
    DELETE FROM omd_lineage.log AS l
    WHERE l.ts < v_before
        AND NOT EXISTS (
            SELECT FROM omd_lineage.replacement AS r
            WHERE r.module_instance_id = l.module_instance_id AND NOT r.is_purged
        );
    GET DIAGNOSTICS p_steps = ROW_COUNT;
END
$purge_log$;

COMMENT ON PROCEDURE omd_lineage.purge_log IS
'Deletes the entries of the log of steps that are older than p_keep, with the rows that these '
'steps have replaced by key, unless their undo is pending; such a step can''t be undone any more. '
'Returns p_steps, the number of deleted entries. omd.purge_history deletes the runs themselves. '
'Errors: OM005: p_keep is NULL; OM013: it is negative. Locks: the deleted rows. Call again when '
'the answer was lost.';
REVOKE ALL ON PROCEDURE omd_lineage.purge_log FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE omd_lineage.purge_log TO omd_admin;
