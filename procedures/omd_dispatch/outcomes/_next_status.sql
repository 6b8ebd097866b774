-- This is the only place of what becomes of a task when its claim ends: rule D10 of
-- docs/explanation/dispatch.md. The order of the lines is the decision. A success stands although
-- somebody has asked the task to end, and this wish comes before the next attempt.
--
-- PostgreSQL puts the body into the statement that ends claims (_end_template): it is one
-- expression without settings, and names twice only what is cheap and does not change. So the plan
-- is the same as with the rule written there; a test finds a call.

CREATE OR REPLACE FUNCTION omd_dispatch._next_status(
    p_outcome text,
    p_attempt integer,
    p_cancel_requested boolean,
    p_type omd_dispatch.task_conf_type_desc,
    p_sqlstate text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_outcome IN ('S', 'C') THEN 'DONE'
            WHEN p_cancel_requested THEN 'CANCELLED'
            WHEN p_outcome = 'A' THEN 'PENDING'
            WHEN (p_type).on_failure = 'END' THEN 'DONE'
            -- No repetition mends a mistake of the caller (OM0) or of the configuration (OM2).
            WHEN p_attempt >= (p_type).max_attempts OR p_sqlstate ~ '^OM[02]' THEN 'DEAD'
            ELSE 'PENDING'
        END;
END;

COMMENT ON FUNCTION omd_dispatch._next_status IS
'Returns the status of a task of the type p_type whose claim ends with p_outcome (S, C, A or F). '
'p_attempt: the number of the attempt that ends; p_cancel_requested: somebody has asked the task '
'to end; p_sqlstate: of the error, may be NULL. The answer is DONE, CANCELLED, DEAD or PENDING. '
'Locks: none.';
