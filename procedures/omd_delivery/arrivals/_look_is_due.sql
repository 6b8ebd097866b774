-- Who shows the locations and who chooses the next act say the same.

CREATE OR REPLACE FUNCTION omd_delivery._look_is_due(
    p_looked_datetime timestamptz,
    p_terms jsonb
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(p_looked_datetime + (p_terms ->> 'every')::interval <= now(), TRUE)
        -- A clock that was set back must not end the looks.
        OR p_looked_datetime > statement_timestamp() + interval '1 minute';
END;

COMMENT ON FUNCTION omd_delivery._look_is_due IS
'Returns whether it is time to look at a location with the terms p_terms at which somebody has '
'looked at p_looked_datetime (NULL: nobody has). Locks: none.';
GRANT EXECUTE ON FUNCTION omd_delivery._look_is_due TO omd_reader;
