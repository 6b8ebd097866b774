-- Without a moment of the session, that of a statement is the traveling now, and what it sees is as
-- of then already: any later moment reads the same, and none needs to be looked up. A setting that
-- is no moment fails in the cast, as 22007 or 22008. A function of ours could raise an error of
-- OMD, but who reads a view needs the right to execute each function in it: whoever has been
-- granted the view alone could not read it any more.

CREATE OR REPLACE FUNCTION omd_facts._moment_sql()
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        '(SELECT ' || omd_facts._bounded_sql(
            'nullif(current_setting(''omd_facts.as_of'', TRUE), '''')::timestamptz'
        ) || ')';
END;

COMMENT ON FUNCTION omd_facts._moment_sql IS
'Returns the expression of the moment in as-of views: that of the session, else one after all '
'transaction times. Locks: none.';
REVOKE ALL ON FUNCTION omd_facts._moment_sql FROM PUBLIC;
