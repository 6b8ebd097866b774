-- All rows at the first and the last instant belong to the range, whatever their ids.

CREATE OR REPLACE FUNCTION omd_lineage._widen_restatement(
    p_restatement_id bigint,
    p_first timestamptz,
    p_last timestamptz
)
RETURNS void
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $widen_restatement$
BEGIN
    UPDATE omd_lineage.restatement AS r SET
        start_position = least(
            r.start_position, ROW(p_first, -9223372036854775808)::omd_lineage.row_position
        ),
        end_position = greatest(
            r.end_position, ROW(p_last, 9223372036854775807)::omd_lineage.row_position
        )
    WHERE r.restatement_id = p_restatement_id AND p_first IS NOT NULL;
END
$widen_restatement$;

COMMENT ON FUNCTION omd_lineage._widen_restatement IS
'Widens the range p_restatement_id so that it holds all positions from p_first to p_last; NULLs '
'change nothing. Locks: the range.';
REVOKE ALL ON FUNCTION omd_lineage._widen_restatement FROM PUBLIC;
GRANT EXECUTE ON FUNCTION omd_lineage._widen_restatement TO omd_runner;
