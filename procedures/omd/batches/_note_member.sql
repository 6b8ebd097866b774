-- Whoever ran a member says so where its instance does not.

CREATE OR REPLACE FUNCTION omd._note_member(
    p_batch_instance_id bigint,
    p_member_type text,
    p_member_code text,
    p_problem text
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $note_member$
BEGIN
    UPDATE omd.batch_instance AS bi SET
        tried_members = coalesce(bi.tried_members, '{}')
            || jsonb_build_object(p_member_type || ' ' || p_member_code, p_problem)
    WHERE bi.batch_instance_id = p_batch_instance_id
        AND bi.batch_instance_id <> 0
        AND bi.execution_status_code = 'E';
END
$note_member$;

COMMENT ON FUNCTION omd._note_member IS
'Notes in the executing p_batch_instance_id that its member p_member_type p_member_code was tried: '
'p_problem is what is said of its failure, which may be empty; NULL: it did not fail. Locks: the '
'Batch Instance.';
GRANT EXECUTE ON FUNCTION omd._note_member TO omd_runner;
