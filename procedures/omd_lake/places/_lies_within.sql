-- Both readings of percent signs have to agree that it does. What must not lie within a location
-- asks _overlap, for which one reading is enough.

CREATE OR REPLACE FUNCTION omd_lake._lies_within(
    p_location text,
    p_folder text
)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        coalesce(
            bool_and(
                starts_with(
                    omd_lake._plain_location(p_folder, d.is_decoded) || '/',
                    omd_lake._plain_location(p_location, d.is_decoded) || '/'
                )
            ),
            FALSE
        )
        AND bool_and(omd_lake._plain_location(p_folder, d.is_decoded) IS NOT NULL)
        AND bool_and(omd_lake._plain_location(p_location, d.is_decoded) IS NOT NULL)
    FROM (VALUES (FALSE), (TRUE)) AS d (is_decoded);
END;

COMMENT ON FUNCTION omd_lake._lies_within IS
'Returns whether the folder p_folder is the location p_location or lies in it, however both are '
'spelled; FALSE where one is NULL or no location. No locks.';
