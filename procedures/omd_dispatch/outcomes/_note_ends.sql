-- A type that leaves its retries to others has its failures counted with the Module, whoever
-- noticed them: also one that came before a run began, or after which a run is left that nobody
-- performs. So are looks that found nothing.

CREATE OR REPLACE FUNCTION omd_dispatch._note_ends(
    p_family_code text,
    p_ends jsonb
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_ends$
BEGIN
    PERFORM omd.note_end_of_task(
        f.task_id, f.claim_token, f.code, f.outcome, f.error, f.error_code
    )
    FROM (
        SELECT r.* FROM jsonb_to_recordset(p_ends) AS r (
            task_id bigint, claim_token bigint, task_type text, code text,
            outcome text, error text, error_code text
        )
        INNER JOIN omd_dispatch.task_conf_type_desc AS c
            ON c.family_code = p_family_code AND r.task_type = c.task_type
        WHERE c.on_failure = 'END'
        ORDER BY r.code, r.task_id
    ) AS f;
END
$note_ends$;

COMMENT ON FUNCTION omd_dispatch._note_ends IS
'Counts the failures of tasks of p_family_code whose type ends with them, and looks that found '
'nothing, with the Modules that their criterion CODE names. p_ends: an array of {"task_id", '
'"claim_token", "task_type", "code", "outcome", "error", "error_code"}. Locks: what executes for '
'the tasks, and the state of the Modules.';
