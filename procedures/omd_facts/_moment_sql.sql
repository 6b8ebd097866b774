-- An open row ends at 9999-12-31, so a moment after that, infinity too, is brought before it.
-- Without a moment of the session, that of a statement is the traveling now, and what it sees is as
-- of then already: any later moment reads the same, and none needs to be looked up. That of a
-- session is computed once per statement, as an InitPlan.

CREATE OR REPLACE FUNCTION omd_facts._moment_sql(
    p_at text DEFAULT NULL
)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        format(
            CASE WHEN p_at IS NULL THEN '(SELECT %s)' ELSE '%s' END,
            format(
                'least(%s, ''9999-12-30 00:00:00+00''::timestamptz)',
                coalesce(
                    p_at, 'nullif(current_setting(''omd_facts.as_of'', TRUE), '''')::timestamptz'
                )
            )
        );
END;

COMMENT ON FUNCTION omd_facts._moment_sql IS
'Returns the expression of the moment in as-of views: that of the expression p_at, or that of the '
'session, but none after all transaction times. Locks: none.';
REVOKE ALL ON FUNCTION omd_facts._moment_sql FROM PUBLIC;
