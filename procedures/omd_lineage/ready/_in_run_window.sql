-- The function is a pure expression, so the planner inlines it into the query of the ready list.

CREATE OR REPLACE FUNCTION omd_lineage._in_run_window(
    p_run_window text,
    p_at timestamptz
)
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
BEGIN ATOMIC
    SELECT
        p_run_window IS NULL
        OR CASE
            WHEN left(p_run_window, 5)::time < substr(p_run_window, 7, 5)::time
                THEN
                    (p_at AT TIME ZONE substr(p_run_window, 13))::time
                    >= left(p_run_window, 5)::time
                    AND (p_at AT TIME ZONE substr(p_run_window, 13))::time
                    < substr(p_run_window, 7, 5)::time
            ELSE
                (p_at AT TIME ZONE substr(p_run_window, 13))::time >= left(p_run_window, 5)::time
                OR (p_at AT TIME ZONE substr(p_run_window, 13))::time
                < substr(p_run_window, 7, 5)::time
        END;
END;

COMMENT ON FUNCTION omd_lineage._in_run_window IS
'Returns whether the instant p_at lies in p_run_window (HH:MM-HH:MM zone; the start is inclusive, '
'the end exclusive; the window passes midnight when its end is not after its start). It is always '
'true when p_run_window is NULL. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_lineage._in_run_window TO omd_reader;
