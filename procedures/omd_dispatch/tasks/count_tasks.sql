-- It counts what a bulk action with the same arguments would take, for it to touch no more.

CREATE OR REPLACE FUNCTION omd_dispatch.count_tasks(
    p_filter jsonb,
    p_counted_at timestamptz
)
RETURNS bigint
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET timezone = 'UTC'
SET enable_seqscan = off
SET jit = off
AS $count_tasks$
DECLARE
    v_filter record;
    v_count bigint;
BEGIN
    PERFORM omd.require_chunk(p_counted_at, 1);
    v_filter := omd_dispatch._filter_sql(p_filter, p_counted_at);
    EXECUTE format(
        'SELECT count(*) FROM %s AS t WHERE %s',
        omd_dispatch._data_table(v_filter.p_family_code), v_filter.p_condition
    ) INTO v_count;
    RETURN v_count;
END
$count_tasks$;

COMMENT ON FUNCTION omd_dispatch.count_tasks IS
'Returns how many tasks p_filter describes: what revive_tasks, cancel_tasks and reschedule_tasks '
'would take with the same two arguments. p_filter: a JSON object with family_code and statuses (of '
'PENDING, CLAIMED and DEAD; a claimed task that was asked to end is left out), both required, and '
'task_types, lane, criteria ({"CODE": ["b_x", "b_y"]}), suspension_id, task_ids, error (how it '
'begins; for omd_data_reader), since and until (from when on, and before when, it has its status).'
' p_counted_at: only tasks that have had their status since before; give now(), and the same to '
'the action. Errors: OM005: p_counted_at is NULL; OM013: it is not finite; OM070, OM071: family or '
'type is unknown; OM075: the family lacks a criterion; OM078: a value is not of its type; OM099: '
'the filter names something else, or leaves out what is required; OM173: the old model is master; '
'42501: it names an error, and the caller lacks omd_data_reader. Locks: none.';
GRANT EXECUTE ON FUNCTION omd_dispatch.count_tasks TO omd_reader;
