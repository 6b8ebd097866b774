-- The facet can't be without a start: a window that begins at the beginning has none.

CREATE OR REPLACE FUNCTION omd_event._nominal_time(
    p_first timestamptz,
    p_last timestamptz
)
RETURNS jsonb
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN isfinite(p_first)
                THEN
                    jsonb_build_object(
                        'nominalTime',
                        omd_event._facet(
                            'NominalTimeRunFacet',
                            '1-0-1',
                            jsonb_strip_nulls(
                                jsonb_build_object(
                                    'nominalStartTime', omd_event._instant(p_first),
                                    'nominalEndTime',
                                    CASE WHEN isfinite(p_last) THEN omd_event._instant(p_last) END
                                )
                            )
                        )
                    )
            ELSE '{}'
        END;
END;

COMMENT ON FUNCTION omd_event._nominal_time IS
'Returns an object with the facet nominalTime; an empty one where p_first is NULL or infinite. '
'p_last: the end; NULL: there is none. Locks: none.';
