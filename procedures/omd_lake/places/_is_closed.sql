-- An installation that is no copy has no such rows.

CREATE OR REPLACE FUNCTION omd_lake._is_closed(
    p_location text
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(bool_or(omd_lake._overlap(c.location, p_location)), FALSE)
    FROM omd_lake.closed_location AS c;
END;

COMMENT ON FUNCTION omd_lake._is_closed IS
'Returns whether the location p_location belongs to the installation that this one is a copy of. '
'Locks: none.';
