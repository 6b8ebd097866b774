-- This is the only place that knows the shape of a commit. A NULL in it is as if the key were not
-- there.

CREATE OR REPLACE FUNCTION omd_lake._commit_problem(
    p_commit jsonb,
    p_has_run boolean
)
RETURNS text
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $commit_problem$
DECLARE
    v_commit jsonb;
    v_table_code text;
    v_counts jsonb;
    v_writes jsonb;
    v_is_catalogued boolean;
BEGIN
    IF jsonb_typeof(p_commit) IS DISTINCT FROM 'object' THEN
        RETURN 'it is no object';
    END IF;
    v_commit := jsonb_strip_nulls(p_commit);
    v_table_code := CASE
        WHEN jsonb_typeof(v_commit -> 'table') = 'string' THEN omd.spell_table(v_commit ->> 'table')
    END;
    IF v_table_code IS NULL OR cardinality(parse_ident(v_table_code)) NOT BETWEEN 2 AND 3
        OR octet_length(v_table_code) > 2600
    THEN
        RETURN 'table is no name of a table';
    END IF;
    v_counts := coalesce(v_commit -> 'counts', '{}');
    v_writes := coalesce(v_commit -> 'writes', '[]');
    v_is_catalogued := v_commit ->> 'format' = 'ICEBERG'
        AND cardinality(parse_ident(v_table_code)) = 2;

    RETURN CASE
        WHEN v_commit - ARRAY[
            'table', 'format', 'from', 'to', 'sequence_number', 'snapshot_id', 'operation',
            'writes', 'counts'
        ] <> '{}'
            THEN format(
                'it has the unknown key %s',
                (
                    SELECT k FROM jsonb_object_keys(v_commit) AS k
                    WHERE k NOT IN (
                        'table', 'format', 'from', 'to', 'sequence_number', 'snapshot_id',
                        'operation', 'writes', 'counts'
                    )
                    LIMIT 1
                )
            )
        WHEN (v_commit ->> 'format' IN ('ICEBERG', 'DELTA')) IS NOT TRUE
            THEN 'format is not ICEBERG or DELTA'
        WHEN (
            v_commit ->> 'operation' IN (
                'APPEND', 'OVERWRITE', 'HISTORY', 'UNDO', 'COMPACT', 'EXPIRE', 'SCHEMA'
            )
        ) IS NOT TRUE
            THEN 'operation is not APPEND, OVERWRITE, HISTORY, UNDO, COMPACT, EXPIRE or SCHEMA'
        WHEN (omd_lake._whole_number(v_commit -> 'sequence_number') >= 0) IS NOT TRUE
            THEN 'sequence_number is no whole number'
        WHEN v_commit ? 'snapshot_id' AND omd_lake._whole_number(v_commit -> 'snapshot_id') IS NULL
            THEN 'snapshot_id is no whole number'
        WHEN NOT v_is_catalogued AND v_commit ? 'from'
            THEN 'from is for an Iceberg table of this catalogue'
        WHEN v_is_catalogued AND jsonb_typeof(v_commit -> 'from') IS DISTINCT FROM 'string'
            THEN 'from is no text'
        WHEN v_is_catalogued AND jsonb_typeof(v_commit -> 'to') IS DISTINCT FROM 'string'
            OR jsonb_typeof(v_commit -> 'to') <> 'string'
            THEN 'to is no text'
        WHEN length(v_commit ->> 'to') NOT BETWEEN 1 AND 1000
            THEN 'to does not have 1 to 1000 characters'
        WHEN v_commit ->> 'to' = v_commit ->> 'from' THEN 'to is the same as from'
        WHEN v_is_catalogued AND p_has_run
            AND (
                omd_lake._plain_location(omd_lake._location_of(v_commit ->> 'to'))
                IS DISTINCT FROM
                omd_lake._plain_location(omd_lake._location_of(v_commit ->> 'from'))
            )
            AND (
                omd_lake._plain_location(omd_lake._location_of(v_commit ->> 'to'))
                IS DISTINCT FROM
                omd_lake._plain_location(omd_lake._default_location(v_table_code))
            )
            THEN 'to lies in another folder than from'
        WHEN jsonb_typeof(v_counts) <> 'object'
            OR v_counts - ARRAY[
                'added_files', 'added_rows', 'removed_files', 'removed_rows', 'total_files',
                'total_rows'
            ] <> '{}'
            OR EXISTS (
                SELECT FROM jsonb_each(v_counts) AS c
                WHERE (omd_lake._whole_number(c.value) >= 0) IS NOT TRUE
            )
            THEN 'counts is no object of added_, removed_ and total_files and _rows'
        WHEN v_commit ->> 'operation' = 'APPEND'
            AND greatest(
                omd_lake._whole_number(v_counts -> 'removed_files'),
                omd_lake._whole_number(v_counts -> 'removed_rows')
            ) > 0
            THEN 'an APPEND removes nothing'
        WHEN jsonb_typeof(v_writes) <> 'array'
            OR EXISTS (
                SELECT FROM jsonb_array_elements(v_writes) AS w (item)
                WHERE jsonb_typeof(w.item) <> 'object'
                    OR w.item - ARRAY['write_number', 'rows'] <> '{}'
                    OR omd_lake._whole_number(w.item -> 'write_number') IS NULL
                    OR (omd_lake._whole_number(w.item -> 'rows') >= 0) IS NOT TRUE
            )
            THEN 'writes is no array of objects with write_number and rows'
        WHEN (
            SELECT count(*) <> count(DISTINCT (w.item -> 'write_number')::numeric)
            FROM jsonb_array_elements(v_writes) AS w (item)
        )
            THEN 'a write is there twice'
        WHEN v_writes <> '[]' AND NOT p_has_run THEN 'writes belong to a run, and none is given'
        WHEN v_is_catalogued AND (v_table_code = ANY(omd_lake._opened_tables())) IS NOT TRUE
            THEN 'the table was not opened in this transaction'
    END;
END
$commit_problem$;

COMMENT ON FUNCTION omd_lake._commit_problem IS
'Returns what is wrong with p_commit, one element of what commit_tables takes; NULL: nothing. '
'p_has_run: whether a run commits. Locks: none.';
