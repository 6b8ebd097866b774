-- The one place of the rule; the planner inlines it.

CREATE OR REPLACE FUNCTION omd_lineage._is_check(
    p_column name,
    p_type oid
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        starts_with(p_column::text, 'check_')
        AND p_type = 'boolean'::pg_catalog.regtype::oid;
END;

COMMENT ON FUNCTION omd_lineage._is_check IS
'Returns whether a column of a transform is a check, if the destination lacks it: p_column begins '
'with check_, and p_type is boolean. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._is_check TO omd_runner;
