-- It counts what a bulk action with the same arguments would take, for it to touch no more.

CREATE OR REPLACE FUNCTION omd.count_instances(
    p_filter jsonb,
    p_counted_at timestamptz
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $count_instances$
BEGIN
    PERFORM omd.require_chunk(p_counted_at, 1);
    RETURN (SELECT count(*) FROM omd._instances_matching(p_filter, p_counted_at));
END
$count_instances$;

COMMENT ON FUNCTION omd.count_instances IS
'Returns how many instances p_filter describes: what set_next_run_indicators and end_instances '
'would take at most with the same two arguments. p_filter: a JSON object with instance_type (BATCH '
'or MODULE), which is required, and codes (of Batches or Modules), batch_instance_ids (these, or '
'what ran in them), statuses (of E, S, F, A and C), since and until (from when on, and before '
'when, it began). p_counted_at: only instances that have had their status since before; give '
'now(), and the same to the action. Errors: OM005: p_counted_at is NULL; OM013: it is not finite; '
'OM099: the filter names something else, or leaves out what is required. Locks: none.';
GRANT EXECUTE ON FUNCTION omd.count_instances TO omd_reader;
