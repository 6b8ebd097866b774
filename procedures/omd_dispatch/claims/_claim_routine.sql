-- Each model has functions of its own, so that a change of the master takes another function, and
-- nobody executes one that has just been made again.

CREATE OR REPLACE FUNCTION omd_dispatch._claim_routine(
    p_family_code text,
    p_name text,
    p_is_new boolean DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $claim_routine$
BEGIN
    RETURN '_' || p_name
        || CASE
            WHEN coalesce(p_is_new, omd_dispatch._migration_status(p_family_code) >= 3)
                THEN '_task_data_'
            ELSE '_old_task_data_'
        END
        || lower(p_family_code);
END
$claim_routine$;

COMMENT ON FUNCTION omd_dispatch._claim_routine IS
'Returns the name of a function of p_family_code that _make_claims makes; p_name: due, other, '
'claim, create, insert, take, done, end, lost or stray. p_is_new: for the new or the old model; '
'NULL: for the master. Locks: none.';
