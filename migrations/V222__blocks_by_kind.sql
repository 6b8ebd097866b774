-- V222: lineage: the block of a topic is found by the kind of its base table, over one answer.
-- Applied once.

CREATE TYPE omd_lineage.block AS (
    start_pos timestamptz,
    start_id bigint,
    end_pos timestamptz,
    end_id bigint,
    row_count bigint,
    is_full boolean,
    min_ts timestamptz,
    max_id bigint,
    upto timestamptz,
    blocker text,
    waited_for text,
    is_quiet boolean,
    is_whole boolean,
    detail text
);
COMMENT ON TYPE omd_lineage.block IS
'The block (start, end] that a topic takes next. end_pos is NULL when there is none; row_count: of '
'its rows; is_full: it holds maxstep of them; min_ts and max_id: its first time and greatest id. '
'upto: rows may be read before it, and where is_whole those of that instant; with an end, is_whole '
'says this of the end. blocker: the dependency that limits upto; waited_for: the one that is not '
'waited for after max_wait. is_quiet: nothing is on its way. detail: why there is none.';

CREATE TYPE omd_lineage.block_limits AS (
    topic_id integer,
    processor text,
    maxstep bigint,
    last omd_lineage.row_position,
    quiet_start omd_lineage.row_position,
    has_own_columns boolean,
    base text,
    table_code text,
    pos_column text,
    id_column text,
    is_lake boolean,
    source_kind_code text,
    is_undelayed boolean,
    blocker integer,
    blocker_name text,
    base_id bigint,
    upto timestamptz,
    patient_upto timestamptz,
    base_pos timestamptz,
    is_whole boolean,
    upto_is_whole boolean
);
COMMENT ON TYPE omd_lineage.block_limits IS
'What limits the next block of a topic: where its offset stands, what it reads and how far that '
'has come.';

-- They stay for the calls that are on their way: dropped, they would be missed.
DO $do$
DECLARE
    v_routine text;
BEGIN
    FOREACH v_routine IN ARRAY ARRAY[
        'omd_lineage._next_block(integer, boolean)', 'omd_lineage._block_limits(integer)'
    ] LOOP
        IF to_regprocedure(v_routine) IS NOT NULL THEN
            EXECUTE format('COMMENT ON FUNCTION %s IS %L', v_routine, 'Retired.');
        END IF;
    END LOOP;
END
$do$;
