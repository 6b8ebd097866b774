-- Both engines tell it alike.

CREATE OR REPLACE FUNCTION omd_decision._reject_text(
    p_code text,
    p_cycle_no bigint,
    p_cause_link text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_cause_link IS NOT NULL AND p_code = 'KEY_MISMATCH'
                THEN format(
                    'link "%s" has no record for cycle %s: its next key is a later one',
                    p_cause_link, p_cycle_no
                )
            WHEN p_cause_link IS NOT NULL
                THEN format(
                    'link "%s" has no record for cycle %s: it has none left',
                    p_cause_link, p_cycle_no
                )
            WHEN p_code = 'KEY_MISMATCH' THEN 'no cycle has its key, and a later one has begun'
            ELSE 'no cycle is left that would take it'
        END;
END;

COMMENT ON FUNCTION omd_decision._reject_text IS
'Returns why a record is rejected with p_code, in words; p_cycle_no and p_cause_link: those of a '
'failed attempt. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_decision._reject_text TO omd_runner;
