-- See _lies_within.

CREATE OR REPLACE FUNCTION omd_lake._overlap(
    p_location text,
    p_other text
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce(bool_or(starts_with(f.a, f.b) OR starts_with(f.b, f.a)), FALSE)
    FROM (VALUES (FALSE), (TRUE)) AS d (is_decoded)
    CROSS JOIN LATERAL (
        SELECT
            omd_lake._plain_location(p_location, d.is_decoded) || '/' AS a,
            omd_lake._plain_location(p_other, d.is_decoded) || '/' AS b
    ) AS f;
END;

COMMENT ON FUNCTION omd_lake._overlap IS
'Returns whether one of the locations p_location and p_other may be the other one or lie in it, '
'however both are spelled. No locks.';
