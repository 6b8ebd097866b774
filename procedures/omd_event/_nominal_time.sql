-- The facet can't be without a start: a window that begins at the beginning has none.

CREATE OR REPLACE FUNCTION omd_event._nominal_time(
    p_bounds jsonb
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN b.first IS NULL OR NOT isfinite(b.first) THEN '{}'
            ELSE
                jsonb_build_object(
                    'nominalTime',
                    omd_event._facet(
                        'NominalTimeRunFacet',
                        '1-0-1',
                        jsonb_strip_nulls(
                            jsonb_build_object(
                                'nominalStartTime', omd_event._instant(b.first),
                                'nominalEndTime',
                                CASE WHEN isfinite(b.last) THEN omd_event._instant(b.last) END
                            )
                        )
                    )
                )
        END
    FROM (
        SELECT
            (p_bounds ->> 0)::timestamptz AS first,
            (p_bounds ->> 1)::timestamptz AS last
    ) AS b;
END;

COMMENT ON FUNCTION omd_event._nominal_time IS
'Returns an object with the facet nominalTime; an empty one where there is no start. p_bounds: an '
'array of start and end; NULL: there is no time. Locks: none.';
REVOKE ALL ON FUNCTION omd_event._nominal_time FROM PUBLIC;
