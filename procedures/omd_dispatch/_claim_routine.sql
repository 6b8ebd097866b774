-- The name can't be that of a file: those who look for routines know these by task_data.

CREATE OR REPLACE FUNCTION omd_dispatch._claim_routine(
    p_family_code text,
    p_name text
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT '_' || p_name || '_task_data_' || lower(p_family_code);
END;

COMMENT ON FUNCTION omd_dispatch._claim_routine IS
'Returns the name of the function of p_family_code that _make_claims has made; p_name: due, claim '
'or end. Locks: none.';
REVOKE ALL ON FUNCTION omd_dispatch._claim_routine FROM PUBLIC;
