-- One rule says what a Batch does next, for the database, the driver and everybody else. It asks
-- the instances and keeps no place of its own, so it may be asked again, also after a crash. The
-- member that a call names is its place: what follows that is read, and all only at the end.

CREATE OR REPLACE FUNCTION omd.next_member(
    p_batch_instance_id bigint,
    p_member_type text DEFAULT NULL,
    p_member_code text DEFAULT NULL,
    p_problem text DEFAULT NULL
)
RETURNS TABLE (
    act text,
    member_type text,
    member_code text,
    detail text
)
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $next_member$
DECLARE
    v_instance record;
    v_tried record;
BEGIN
    IF p_batch_instance_id IS NULL THEN
        PERFORM omd.raise_error('OM005', jsonb_build_object('argument', 'p_batch_instance_id'));
    END IF;
    SELECT bi.execution_status_code AS status, b.continue_on_failure INTO v_instance
    FROM omd.batch_instance AS bi
    INNER JOIN omd.batch AS b USING (batch_id)
    WHERE bi.batch_instance_id = p_batch_instance_id;
    IF NOT FOUND THEN
        PERFORM omd.raise_error(
            'OM003', jsonb_build_object('batch_instance_id', p_batch_instance_id)
        );
    END IF;
    IF p_member_code IS NOT NULL THEN
        SELECT
            bool_or(
                m.place = 1
                AND (NOT m.is_done OR (p_problem IS NOT NULL AND m.failure IS NULL))
            ) AS is_new,
            bool_or(m.place = 1 AND m.failure IS NOT NULL) AS has_failed,
            max(m.member_type) FILTER (WHERE m.place = 2 AND NOT m.is_done) AS next_type,
            max(m.member_code) FILTER (WHERE m.place = 2 AND NOT m.is_done) AS next_code
        INTO v_tried
        FROM omd._members_of_instance(p_batch_instance_id, p_member_type, p_member_code) AS m;
        IF v_tried.is_new THEN
            PERFORM omd._note_member(p_batch_instance_id, p_member_type, p_member_code, p_problem);
        END IF;
        IF v_tried.next_code IS NOT NULL
            AND v_instance.status = 'E'
            AND (
                v_instance.continue_on_failure
                OR (NOT v_tried.has_failed AND p_problem IS NULL)
            )
        THEN
            act := 'MEMBER';
            member_type := v_tried.next_type;
            member_code := v_tried.next_code;
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    SELECT
        string_agg(m.failure, E'\n' ORDER BY m.place),
        (array_agg(m.member_type ORDER BY m.place) FILTER (WHERE NOT m.is_done))[1],
        (array_agg(m.member_code ORDER BY m.place) FILTER (WHERE NOT m.is_done))[1]
    INTO detail, member_type, member_code
    FROM omd._members_of_instance(p_batch_instance_id) AS m;
    IF member_code IS NULL
        OR v_instance.status <> 'E'
        OR (detail IS NOT NULL AND NOT v_instance.continue_on_failure)
    THEN
        act := 'END';
        member_type := NULL;
        member_code := NULL;
    ELSE
        act := 'MEMBER';
        detail := NULL;
    END IF;
    RETURN NEXT;
END
$next_member$;

COMMENT ON FUNCTION omd.next_member IS
'For programs: One row: what the executing p_batch_instance_id does next. The act is MEMBER: run '
'the Module or child Batch member_code (member_type is MODULE or BATCH) as a part of it; or END: '
'end it, with omd.batch_failure where detail has a line for each member that failed, else with '
'omd.batch_success. Modules come by sequence, then child Batches. A member that has an ended '
'instance of this Batch Instance is done, also one that was skipped or aborted; so is one that '
'omd.run_module has tried in vain. After a failure nothing comes next, unless the Batch has '
'continue_on_failure. It may be asked again. p_member_type, p_member_code: this member was tried, '
'and may have left no instance; what follows it is next, and what was left before it comes at the '
'end. NULL: nothing is said, and nothing changes. p_problem: why it failed, in one line, which may '
'be empty; NULL: it did not fail. Errors: OM003, OM005. Locks: the Batch Instance where something '
'is noted. Call again when the answer was lost. May be NULL: member_type, member_code, detail.';
GRANT EXECUTE ON FUNCTION omd.next_member TO omd_runner;
