-- A run that fails tells its error, and who began it stands in the instance. So who called is named
-- where that is somebody else, or where there is nothing else to tell.

CREATE OR REPLACE FUNCTION omd._who_failed_it(
    p_started_by text,
    p_event_detail text
)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
BEGIN ATOMIC
    SELECT
        CASE
            WHEN p_event_detail IS NOT NULL AND p_started_by = omd.editor() THEN p_event_detail
            ELSE
                concat_ws(
                    ': ',
                    'failed by ' || omd.editor(),
                    CASE WHEN p_event_detail ~ '\S' THEN p_event_detail END
                )
        END;
END;

COMMENT ON FUNCTION omd._who_failed_it IS
'Returns the text of the event of a run that p_started_by began and that the caller ends with a '
'failure: p_event_detail, and before it who the caller is, unless he began the run and gives a '
'text. Locks: none.';
